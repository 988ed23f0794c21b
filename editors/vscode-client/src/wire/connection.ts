/** A connection with an agent: its process, the protocol over it, and what both sides have agreed on. */

import { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import {
  type AnyMessage,
  type ClientApp,
  type ClientConnection,
  type InitializeResponse,
  methods,
  ndJsonStream,
  RequestError,
} from "@agentclientprotocol/sdk";
import { initializeParams } from "./capabilities.ts";
import { endOf } from "./failure.ts";
import { type AgentProcess, type Ended, type Launch, startProcess } from "./process.ts";
import { watched } from "./traffic.ts";

/** Bytes of the longest message that is read; a file or image may be in it. */
const LONGEST_MESSAGE = 64 * 1024 * 1024;

/** Milliseconds within which the end of a process follows the end of its connection. */
export const END_IS_TOLD = 300;

export interface Connecting {
  readonly launch: Launch;
  readonly version: string;
  /** Answers what the agent asks. */
  readonly app: ClientApp;
  readonly log: (line: string) => void;
  readonly watch?: (direction: "→" | "←", message: AnyMessage) => void;
}

export interface Connection {
  readonly agent: ClientConnection["agent"];
  readonly about: InitializeResponse;
  readonly pid: number;
  readonly ended: Promise<Ended>;
  close(): void;
}

/**
 * Starts an agent and shakes hands with it.
 *
 * @throws NotStarted when there is no such command.
 * @throws Error when it ends, or answers wrongly, before the handshake is done.
 */
export async function connect(connecting: Connecting): Promise<Connection> {
  const process = await startProcess(connecting.launch, connecting.log);
  const connection = connecting.app.connect(streamOf(process, connecting));
  try {
    const hello = connection.agent.request(methods.agent.initialize, initializeParams(connecting.version));
    const about = await hello.catch((error: unknown) => whyNot(process, error));
    const { ended, kill } = process;
    return { agent: connection.agent, about, pid: process.child.pid ?? 0, ended, close: kill };
  } catch (error) {
    process.kill();
    throw error;
  }
}

function streamOf(process: AgentProcess, connecting: Connecting): ReturnType<typeof ndJsonStream> {
  const output = Writable.toWeb(process.child.stdin) as WritableStream<Uint8Array>;
  const input = Readable.toWeb(process.child.stdout) as ReadableStream<Uint8Array>;
  const stream = ndJsonStream(output, input, { maxMessageBytes: LONGEST_MESSAGE });
  return connecting.watch ? watched(stream, connecting.watch) : stream;
}

/** An agent that ended says more by its last words than by its silence. */
async function whyNot(process: AgentProcess, error: unknown): Promise<never> {
  const ended = error instanceof RequestError ? undefined : await Promise.race([process.ended, setTimeout(END_IS_TOLD)]);
  throw ended ? new Error(endOf(ended), { cause: error }) : error;
}
