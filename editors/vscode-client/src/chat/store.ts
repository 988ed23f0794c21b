/** The sessions that are open, which of them is looked at, and whoever wants to know of changes. */

import { emptySession, type SessionState } from "../state/model.ts";

/** What stands in the way of working at all, with what can be done about it. */
export interface Problem {
  readonly text: string;
  readonly actions: readonly { readonly id: string; readonly title: string; readonly hint?: string }[];
}

export interface StoreState {
  readonly sessions: ReadonlyMap<string, SessionState>;
  readonly active: string | undefined;
  readonly problem: Problem | undefined;
}

type Listener = (state: StoreState) => void;

/** Holds the state; every change is a new value. */
export class Store {
  #state: StoreState = { sessions: new Map(), active: undefined, problem: undefined };
  readonly #listeners = new Set<Listener>();

  get state(): StoreState {
    return this.#state;
  }

  get active(): SessionState | undefined {
    return this.#state.active === undefined ? undefined : this.#state.sessions.get(this.#state.active);
  }

  session(id: string): SessionState | undefined {
    return this.#state.sessions.get(id);
  }

  /** Calls a listener after every change. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Opens a session, or begins one anew, and shows it. */
  open(id: string, cwd: string, title = ""): void {
    this.#put({ ...emptySession(id, cwd), title });
    this.select(id);
  }

  /** Applies a reducer to an open session; a session that is not open is left alone. */
  change(id: string, reduce: (state: SessionState) => SessionState): void {
    const before = this.#state.sessions.get(id);
    if (before) this.#put(reduce(before));
  }

  select(id: string): void {
    if (this.#state.sessions.has(id)) this.#set({ ...this.#state, active: id });
  }

  close(id: string): void {
    const sessions = new Map(this.#state.sessions);
    sessions.delete(id);
    const active = this.#state.active === id ? [...sessions.keys()].at(-1) : this.#state.active;
    this.#set({ ...this.#state, sessions, active });
  }

  trouble(problem: Problem | undefined): void {
    if (problem !== this.#state.problem) this.#set({ ...this.#state, problem });
  }

  #put(session: SessionState): void {
    if (this.#state.sessions.get(session.id) === session) return;
    this.#set({ ...this.#state, sessions: new Map(this.#state.sessions).set(session.id, session) });
  }

  #set(state: StoreState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}
