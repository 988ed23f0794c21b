/** `terminal/*`: commands of the agent, their output captured, shown by whoever watches. */

import { type ChildProcess, spawn } from "node:child_process";
import {
  type CreateTerminalRequest,
  type CreateTerminalResponse,
  RequestError,
  type TerminalOutputResponse,
  type WaitForTerminalExitResponse,
} from "@agentclientprotocol/sdk";
import { Captured } from "./captured.ts";

export interface Run {
  readonly terminalId: string;
  readonly sessionId: string;
  readonly label: string;
  /** Ends the command. */
  kill(): void;
}

/** Where the output of a command is shown. */
export interface Screen {
  write(text: string): void;
  exit(code: number | null): void;
}

export interface TerminalDesk {
  /** Asks about a command that no answered question has shown. */
  mayRun(request: CreateTerminalRequest, signal: AbortSignal): Promise<boolean>;
  screen(run: Run): Screen;
  /** New output, or the end, for the card. */
  changed(sessionId: string, terminalId: string, output: string, exit: string | undefined): void;
  readonly cwd: (sessionId: string) => string;
}

interface Terminal {
  readonly child: ChildProcess;
  readonly captured: Captured;
  readonly exit: Promise<WaitForTerminalExitResponse>;
  status?: WaitForTerminalExitResponse;
}

const DEFAULT_LIMIT = 1024 * 1024;
const KILL_AFTER = 1500;

/** The terminals of one connection. */
export class Terminals {
  readonly #desk: TerminalDesk;
  readonly #terminals = new Map<string, Terminal>();
  #next = 1;

  constructor(desk: TerminalDesk) {
    this.#desk = desk;
  }

  /**
   * Starts a command.
   *
   * @throws RequestError when the person rejected it, or it could not be started.
   */
  async create(request: CreateTerminalRequest, signal: AbortSignal): Promise<CreateTerminalResponse> {
    if (!(await this.#desk.mayRun(request, signal))) {
      throw RequestError.internalError(undefined, "The user rejected this command");
    }
    const terminalId = `t${this.#next++}`;
    const child = start(request, request.cwd ?? this.#desk.cwd(request.sessionId));
    const captured = new Captured(request.outputByteLimit ?? DEFAULT_LIMIT);
    const terminal: Terminal = { child, captured, exit: exitOf(child) };
    this.#terminals.set(terminalId, terminal);
    this.#show(terminalId, request, terminal);
    await spawned(child);
    return { terminalId };
  }

  /** The output so far. */
  output(terminalId: string): TerminalOutputResponse {
    const { captured, status } = this.#terminal(terminalId);
    return { output: captured.text(), truncated: captured.truncated, ...(status ? { exitStatus: status } : {}) };
  }

  /** Waits for the end of the command. */
  waitForExit(terminalId: string): Promise<WaitForTerminalExitResponse> {
    return this.#terminal(terminalId).exit;
  }

  /** Ends the command; its output stays. */
  kill(terminalId: string): void {
    killTree(this.#terminal(terminalId).child);
  }

  /** Ends the command and forgets it; what was shown stays. */
  release(terminalId: string): void {
    killTree(this.#terminal(terminalId).child);
    this.#terminals.delete(terminalId);
  }

  /** Ends all of them. */
  dispose(): void {
    for (const { child } of this.#terminals.values()) killTree(child);
    this.#terminals.clear();
  }

  #terminal(terminalId: string): Terminal {
    const terminal = this.#terminals.get(terminalId);
    if (!terminal) throw RequestError.resourceNotFound(terminalId);
    return terminal;
  }

  #show(terminalId: string, request: CreateTerminalRequest, terminal: Terminal): void {
    const { sessionId } = request;
    const label = [request.command, ...(request.args ?? [])].join(" ");
    const screen = this.#desk.screen({ terminalId, sessionId, label, kill: () => { killTree(terminal.child); } });
    const take = (data: Buffer): void => {
      const text = terminal.captured.add(data);
      screen.write(text);
      this.#desk.changed(sessionId, terminalId, terminal.captured.text(), undefined);
    };
    terminal.child.stdout?.on("data", take);
    terminal.child.stderr?.on("data", take);
    void terminal.exit.then((status) => {
      terminal.status = status;
      screen.exit(status.exitCode ?? null);
      this.#desk.changed(sessionId, terminalId, terminal.captured.text(), endText(status));
    });
  }
}

function start(request: CreateTerminalRequest, cwd: string): ChildProcess {
  const args = request.args ?? [];
  const env = Object.fromEntries((request.env ?? []).map(({ name, value }) => [name, value]));
  // Some agents put a whole line into `command`; only a shell can run that.
  const shell = args.length === 0 && /\s/.test(request.command);
  return spawn(request.command, args, {
    cwd,
    shell,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
}

function spawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      reject(RequestError.internalError(undefined, error.message));
    });
  });
}

function exitOf(child: ChildProcess): Promise<WaitForTerminalExitResponse> {
  return new Promise((resolve) => {
    child.once("error", () => {
      resolve({ exitCode: 127, signal: null });
    });
    child.once("exit", (exitCode, signal) => {
      // A grandchild may hold the pipe; what is already in it is taken, the rest is not waited for.
      setTimeout(() => {
        resolve({ exitCode, signal });
      }, 50);
    });
  });
}

/** Ends a command and all that it started: kindly, then by force. */
function killTree(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  send(child, "SIGTERM");
  const timer = setTimeout(() => {
    send(child, "SIGKILL");
  }, KILL_AFTER);
  child.once("exit", () => {
    clearTimeout(timer);
  });
}

function send(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    child.kill(signal);
  }
}

function endText(status: WaitForTerminalExitResponse): string {
  return status.signal ? `ended by ${status.signal}` : `exit code ${status.exitCode ?? "unknown"}`;
}
