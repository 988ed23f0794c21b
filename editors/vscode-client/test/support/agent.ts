/** The real agent and a fake model server, started as processes; and a chat without an editor. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Chat } from "../../src/chat/chat.ts";
import type { Surroundings } from "../../src/chat/surroundings.ts";
import type { Card, Entry, SessionState } from "../../src/state/model.ts";
import type { Launch } from "../../src/wire/process.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..", "..");
export const PYTHON = process.env["HERMES_TEST_PYTHON"] ?? join(ROOT, ".venv", "bin", "python");

export interface Call {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

export interface Say {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly Call[];
  readonly token_delay?: number;
  readonly ending?: string;
}

/** A model over real HTTP that says what it is told to. */
export class Model {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  static async start(...options: string[]): Promise<Model> {
    const process = spawn(PYTHON, ["-m", "tests.fakes.model_server", ...options], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: process.stdout })) {
      return new Model((JSON.parse(line) as { url: string }).url, process);
    }
    throw new Error("The model server did not start");
  }

  async say(...replies: readonly (string | Say)[]): Promise<void> {
    const address = new URL("/script", this.url);
    const answer = await fetch(address, { method: "POST", body: JSON.stringify(replies) });
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** The bodies of all requests that came. */
  async requests(): Promise<unknown[]> {
    return (await (await fetch(new URL("/requests", this.url), { method: "POST", body: "null" })).json()) as unknown[];
  }

  /** The last request as it came, for a look at what is in it. */
  async lastRequest(): Promise<string> {
    return JSON.stringify((await this.requests()).at(-1));
  }

  stop(): void {
    this.#process.kill();
  }
}

/** A project and a home in a folder of their own. */
export class Stage {
  readonly root = mkdtempSync(join(tmpdir(), "hermes vscode "));
  readonly project = join(this.root, "project");
  readonly home = join(this.root, "home");

  static async set(files: Record<string, string> = {}): Promise<Stage> {
    const stage = new Stage();
    await mkdir(stage.project);
    await mkdir(stage.home);
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(stage.project, name)), { recursive: true });
      await writeFile(join(stage.project, name), text);
    }
    return stage;
  }

  path(name: string): string {
    return join(this.project, name);
  }

  read(name: string): Promise<string> {
    return readFile(this.path(name), "utf8");
  }

  clear(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** How the agent of this checkout is started, with nothing of the machine's own settings. */
export function launchOf(stage: Stage, modelUrl?: string, ...args: readonly string[]): Launch {
  const model = modelUrl === undefined ? {} : {
    HERMES_ACP_PROVIDER: "custom",
    HERMES_ACP_MODEL: "fake-model",
    HERMES_ACP_BASE_URL: modelUrl,
    HERMES_ACP_API_KEY: "sk-test-0123456789",
    HERMES_ACP_CONTEXT_WINDOW: "32000",
  };
  const env = {
    HOME: stage.home,
    PYTHONPATH: ROOT,
    HERMES_ACP_HOME: join(stage.home, "hermes-acp"),
    PYTHON_KEYRING_BACKEND: "keyring.backends.null.Keyring",
    HERMES_ACP_AUTO_TITLE: "false",
    HERMES_ACP_LOCAL_SERVERS: "off",
    ...model,
  };
  return { command: PYTHON, args: ["-m", "hermes_acp", "--stdio", ...args], env, cwd: stage.project };
}

export interface Bench {
  readonly chat: Chat;
  readonly told: [string, string][];
  readonly opened: string[];
  readonly logged: string[];
}

/** A chat whose editor is the disk. */
export function chatWith(launch: Launch, more: Partial<Surroundings> = {}): Bench {
  const [told, opened, logged]: [[string, string][], string[], string[]] = [[], [], []];
  const chat = new Chat({
    version: "0.0.0",
    reading: { buffer: () => undefined, disk: (path) => readFile(path).catch(() => undefined) },
    folders: () => [launch.cwd],
    write: async (path, content) => {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    },
    screen: () => ({ write: () => undefined, exit: () => undefined }),
    open: (url) => { opened.push(url); return Promise.resolve(); },
    launch: () => launch,
    defaultMode: () => "",
    log: (line) => { logged.push(line); },
    watch: () => undefined,
    told: (id, what) => { told.push([id, what]); },
    ...more,
  });
  return { chat, told, opened, logged };
}

/** Waits until something holds of the chat; says what stood there when it never did. */
export async function until<T>(chat: Chat, holds: (state: SessionState) => T | undefined | false, patience = 60_000): Promise<T> {
  const deadline = Date.now() + patience;
  for (;;) {
    const state = chat.store.active;
    const found = state && holds(state);
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`It did not come to pass: ${JSON.stringify(chat.store.active ?? chat.store.state.problem, null, 1)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function cards(state: SessionState): Card[] {
  return state.entries.filter((entry): entry is Card => entry.kind === "card");
}

export function textOf(state: SessionState, kind: "agent" | "thought" | "user" | "notice"): string {
  const mine = (entry: Entry): entry is Extract<Entry, { kind: typeof kind }> => entry.kind === kind;
  return state.entries.filter(mine).map((entry) => entry.text).join("");
}

/** The card that asks; once there is one. */
export function asking(chat: Chat): Promise<Card> {
  return until(chat, (state) => cards(state).find((card) => card.permission));
}

export function idle(chat: Chat): Promise<SessionState> {
  return until(chat, (state) => state.phase === "idle" && state.entries.some((entry) => entry.kind === "user") && state);
}
