/** Sessions of the agent: made, loaded, listed, closed, deleted, and set to a mode or model. */

import {
  type InitializeResponse,
  methods,
  type SessionInfo,
  type SessionNotification,
} from "@agentclientprotocol/sdk";
import type { Connection } from "../wire/connection.ts";
import { failureOf } from "../wire/failure.ts";
import { MODES, type Opened, withMode, withOpened, withOptions } from "../state/options.ts";
import { applyUpdate, withNotice } from "../state/update.ts";
import type { Store } from "./store.ts";

export interface OpenSession {
  readonly id: string;
  readonly cwd: string;
  readonly title: string;
}

/** Updates of sessions that are not open yet; an agent may tell of one before it answers. */
const MOST_EARLY = 500;

export class Sessions {
  readonly #store: Store;
  readonly #connection: () => Promise<Connection>;
  readonly #defaultMode: () => string;
  #early: SessionNotification[] = [];

  constructor(store: Store, connection: () => Promise<Connection>, defaultMode: () => string) {
    this.#store = store;
    this.#connection = connection;
    this.#defaultMode = defaultMode;
  }

  /** A fresh session in a folder, shown. */
  async create(cwd: string): Promise<string> {
    const { agent } = await this.#connection();
    const answer = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    this.#store.open(answer.sessionId, cwd);
    this.#opened(answer.sessionId, answer);
    await this.#beginInMode(answer.sessionId);
    return answer.sessionId;
  }

  /** A session of the past, replayed from its beginning. */
  async load(session: OpenSession): Promise<void> {
    const { agent } = await this.#connection();
    const { id, cwd } = session;
    this.#store.open(id, cwd, session.title);
    this.#store.change(id, (state) => ({ ...state, phase: "loading" }));
    try {
      const answer = await agent.request(methods.agent.session.load, { sessionId: id, cwd, mcpServers: [] });
      this.#opened(id, answer);
    } catch (error) {
      this.#store.close(id);
      throw error;
    } finally {
      this.#store.change(id, (state) => ({ ...state, phase: "idle" }));
    }
  }

  /** A session that stands here, taken up again by an agent that was started anew. */
  async takeUp(id: string): Promise<void> {
    const { agent, about } = await this.#connection();
    const state = this.#store.session(id);
    if (!state) return;
    if (!canResume(about)) {
      await this.load(state);
      return;
    }
    const answer = await agent.request(methods.agent.session.resume, { sessionId: id, cwd: state.cwd, mcpServers: [] });
    this.#opened(id, answer);
  }

  /** The sessions that the agent knows of a folder, the newest first. */
  async list(cwd: string, cursor?: string): Promise<{ sessions: SessionInfo[]; next: string | undefined }> {
    const { agent, about } = await this.#connection();
    if (!about.agentCapabilities?.sessionCapabilities?.list) return { sessions: [], next: undefined };
    const answer = await agent.request(methods.agent.session.list, { cwd, ...(cursor === undefined ? {} : { cursor }) });
    return { sessions: answer.sessions, next: answer.nextCursor ?? undefined };
  }

  /** Removes a session here; the agent lets go of what it holds for it. */
  async close(id: string): Promise<void> {
    this.#store.close(id);
    const { agent, about } = await this.#connection();
    if (about.agentCapabilities?.sessionCapabilities?.close) {
      await agent.request(methods.agent.session.close, { sessionId: id });
    }
  }

  /** Deletes a session for good. */
  async delete(id: string): Promise<void> {
    const { agent } = await this.#connection();
    await agent.request(methods.agent.session.delete, { sessionId: id });
    this.#store.close(id);
  }

  /** Sets a picker; what the agent answers is what stands. */
  async setOption(id: string, optionId: string, value: string | boolean): Promise<void> {
    const state = this.#store.session(id);
    if (!state) return;
    try {
      await this.#setOption(id, state.modesOnly && optionId === MODES, optionId, value);
    } catch (error) {
      this.#store.change(id, (now) => withNotice({ ...now, options: [...now.options] }, "error", [failureOf(error).text]));
    }
  }

  /** One `session/update`. */
  update(notification: SessionNotification): void {
    const { sessionId, update } = notification;
    if (this.#store.session(sessionId)) {
      this.#store.change(sessionId, (state) => applyUpdate(state, update, Date.now()));
    } else if (this.#early.length < MOST_EARLY) {
      this.#early.push(notification);
    }
  }

  async #setOption(sessionId: string, isMode: boolean, configId: string, value: string | boolean): Promise<void> {
    const { agent } = await this.#connection();
    if (isMode) {
      await agent.request(methods.agent.session.setMode, { sessionId, modeId: String(value) });
      this.#store.change(sessionId, (state) => withMode(state, String(value)));
      return;
    }
    const setting = typeof value === "boolean" ? { type: "boolean" as const, value } : { value };
    const answer = await agent.request(methods.agent.session.setConfigOption, { sessionId, configId, ...setting });
    this.#store.change(sessionId, (state) => withOptions(state, answer.configOptions));
  }

  async #beginInMode(id: string): Promise<void> {
    const wanted = this.#defaultMode();
    const mode = this.#store.session(id)?.options.find((option) => option.category === "mode");
    if (mode?.type !== "select" || mode.value === wanted) return;
    if (mode.values.some(({ value }) => value === wanted)) await this.setOption(id, mode.id, wanted);
  }

  #opened(id: string, opened: Opened | null | undefined): void {
    this.#store.change(id, (state) => withOpened(state, opened));
    const mine = this.#early.filter((each) => each.sessionId === id);
    this.#early = this.#early.filter((each) => each.sessionId !== id);
    for (const each of mine) this.update(each);
  }
}

function canResume(about: InitializeResponse): boolean {
  return Boolean(about.agentCapabilities?.sessionCapabilities?.resume) || !about.agentCapabilities?.loadSession;
}
