/** Prompts: one at a time runs in a session, the others wait their turn where one can see and drop them. */

import { setTimeout } from "node:timers/promises";
import { type ContentBlock, methods, RequestError, type StopReason } from "@agentclientprotocol/sdk";
import { failureOf } from "../wire/failure.ts";
import { type Connection, END_IS_TOLD } from "../wire/connection.ts";
import { beginTurn, dequeue, endTurn, enqueue, failTurn, type Said } from "../state/turns.ts";
import type { Store } from "./store.ts";

export interface Prompt {
  readonly blocks: ContentBlock[];
  readonly said: Said;
}

export interface PromptEvents {
  /** A turn of a session has ended. */
  turnEnded(sessionId: string, reason: StopReason | "failed"): void;
  failed(error: unknown): void;
}

export class Prompts {
  readonly #store: Store;
  readonly #connection: () => Promise<Connection>;
  readonly #events: PromptEvents;
  readonly #waiting = new Map<string, Prompt>();
  #next = 1;

  constructor(store: Store, connection: () => Promise<Connection>, events: PromptEvents) {
    this.#store = store;
    this.#connection = connection;
    this.#events = events;
  }

  /** Sends a prompt, or lets it wait while a turn runs. */
  send(sessionId: string, prompt: Prompt, place: "first" | "last" = "last"): void {
    const session = this.#store.session(sessionId);
    if (!session) return;
    if (session.phase === "idle") {
      void this.#run(sessionId, prompt);
      return;
    }
    const id = `w${this.#next++}`;
    this.#waiting.set(id, prompt);
    this.#store.change(sessionId, (state) => enqueue(state, { id, text: prompt.said.text }, place));
  }

  /** Takes a waiting prompt back. */
  drop(sessionId: string, id: string): Prompt | undefined {
    const prompt = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#store.change(sessionId, (state) => dequeue(state, id));
    return prompt;
  }

  /** Sends what waits, when nothing runs: after a turn, and after the agent came back. */
  next(sessionId: string): void {
    const session = this.#store.session(sessionId);
    const first = session?.queue[0];
    if (session?.phase !== "idle" || !first) return;
    const prompt = this.drop(sessionId, first.id);
    if (prompt) void this.#run(sessionId, prompt);
  }

  async #run(sessionId: string, prompt: Prompt): Promise<void> {
    this.#store.change(sessionId, (state) => beginTurn(state, prompt.said));
    try {
      const { agent } = await this.#connection();
      const answer = await agent.request(methods.agent.session.prompt, { sessionId, prompt: prompt.blocks });
      this.#store.change(sessionId, (state) => endTurn(state, answer.stopReason, Date.now()));
      this.#events.turnEnded(sessionId, answer.stopReason);
      // What waits was meant to follow a turn that went well, or that was stopped to make room for it.
      this.next(sessionId);
    } catch (error) {
      await this.#fail(sessionId, error);
    }
  }

  async #fail(sessionId: string, error: unknown): Promise<void> {
    // The end of the agent is told once, with its reason, by whoever starts it again.
    if (!(error instanceof RequestError)) await setTimeout(END_IS_TOLD);
    if (this.#store.session(sessionId)?.phase !== "running") return;
    const failure = failureOf(error);
    this.#store.change(sessionId, (state) => failTurn(state, failure.text, Date.now()));
    this.#events.turnEnded(sessionId, "failed");
    if (failure.kind !== "error") this.#events.failed(error);
  }
}
