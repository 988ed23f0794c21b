/** The agent's process: started without a shell, its standard error kept for the message when it fails. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";

/** How an agent is started. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last lines of standard error. */
  readonly lastWords: string;
}

const REASONS: Readonly<Record<string, string>> = { ENOENT: "was not found.", EACCES: "may not be run: permission denied." };

/** The command could not be started. */
export class NotStarted extends Error {
  readonly code: string;

  constructor(launch: Launch, cause: NodeJS.ErrnoException) {
    super(`"${launch.command}" ${REASONS[cause.code ?? ""] ?? `could not be started: ${cause.message}`}`, { cause });
    this.name = "NotStarted";
    this.code = cause.code ?? "";
  }
}

export interface AgentProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  kill(): void;
}

const KEPT_ERRORS = 4000;
const GRACE = 2000;

/**
 * Starts the agent.
 *
 * @throws NotStarted when there is no such command, or it may not be run.
 */
export async function startProcess(launch: Launch, log: (line: string) => void): Promise<AgentProcess> {
  const child = spawn(launch.command, [...launch.args], {
    cwd: launch.cwd,
    env: { ...process.env, ...launch.env },
    stdio: "pipe",
    windowsHide: true,
  });
  const errors = keepErrors(child, log);
  // A write to an agent that has gone is told by its end, not as an exception of the editor.
  child.stdin.on("error", () => undefined);
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code, signal) => {
      resolve({ code, signal, lastWords: errors() });
    });
  });
  await started(child, launch);
  return { child, ended, kill: () => void stop(child, ended) };
}

function started(child: ChildProcessWithoutNullStreams, launch: Launch): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      reject(new NotStarted(launch, error));
    });
  });
}

function keepErrors(child: ChildProcessWithoutNullStreams, log: (line: string) => void): () => string {
  let kept = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    kept = (kept + text).slice(-KEPT_ERRORS);
    log(text.trimEnd());
  });
  return () => kept.trim();
}

/** Ends it: first by closing its input, then by force. */
async function stop(child: ChildProcessWithoutNullStreams, ended: Promise<Ended>): Promise<void> {
  child.stdin.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), GRACE);
  await ended;
  clearTimeout(timer);
}
