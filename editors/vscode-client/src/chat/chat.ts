/** The chat without any editor: one agent, its sessions, prompts and questions, put together. */

import { methods } from "@agentclientprotocol/sdk";
import { rejection } from "../asks/permission.ts";
import type { Card, SessionState } from "../state/model.ts";
import { failTurn } from "../state/turns.ts";
import { withNotice } from "../state/update.ts";
import { type Connection, connect } from "../wire/connection.ts";
import { endOf, failureOf } from "../wire/failure.ts";
import type { Ended } from "../wire/process.ts";
import { clientApp, type Desks } from "./app.ts";
import { elicitationDesk, type OpenQuestions, openQuestions, permissionDesk, terminalDesk, writingDesk } from "./desks.ts";
import { Link } from "./link.ts";
import { problemOf } from "./problems.ts";
import { Prompts } from "./prompts.ts";
import { Sessions } from "./sessions.ts";
import { Store } from "./store.ts";
import type { Surroundings } from "./surroundings.ts";

export class Chat {
  readonly store = new Store();
  readonly open: OpenQuestions = openQuestions();
  readonly sessions: Sessions;
  readonly prompts: Prompts;
  readonly link: Link;
  /** What the agent last said of itself. */
  about: Connection["about"] | undefined;
  readonly #around: Surroundings;

  constructor(around: Surroundings) {
    this.#around = around;
    this.link = new Link({
      connect: () => this.#connect(),
      gone: (ended, again) => void this.#gone(ended, again),
    });
    const connection = (): Promise<Connection> => this.link.connection();
    this.sessions = new Sessions(this.store, connection, () => around.defaultMode());
    this.prompts = new Prompts(this.store, connection, {
      turnEnded: (sessionId, reason) => { around.told(sessionId, reason); },
      failed: (error) => { this.fail(error); },
    });
  }

  /** Does something with the agent; what goes wrong is shown with what can be done about it. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const done = await work();
      this.store.trouble(undefined);
      return done;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  /** Shows an error, with buttons that help against it. */
  fail(error: unknown): void {
    this.note(error);
    this.store.trouble(problemOf(error, this.about?.authMethods));
  }

  /** Writes an error down, without a word to the person. */
  note(error: unknown): void {
    this.#around.log(failureOf(error).text);
  }

  /** Whether a session waits for the person. */
  waits(sessionId: string): boolean {
    return this.open.permissions.waits(sessionId) || this.open.elicitations.waits(sessionId);
  }

  /** Ends the running turn; its open questions are taken back, as the protocol asks. */
  async stop(sessionId: string): Promise<void> {
    if (this.store.session(sessionId)?.phase !== "running") return;
    this.open.permissions.dismiss(sessionId);
    this.open.elicitations.dismiss(sessionId);
    const { agent } = await this.link.connection();
    await agent.notify(methods.agent.session.cancel, { sessionId });
  }

  /** Allows what a card asks for, this once. */
  allow(sessionId: string, questionId: string): void {
    const choices = cardOf(this.store.session(sessionId), questionId)?.permission?.choices ?? [];
    const once = choices.find((choice) => choice.kind === "allow_once");
    if (once) this.open.permissions.answer(questionId, once.id);
  }

  /** Answers the question of a card by closing it: that is a rejection. */
  dismiss(sessionId: string, questionId: string): void {
    const card = cardOf(this.store.session(sessionId), questionId);
    this.open.permissions.answer(questionId, card && rejection(card.permission?.choices ?? [])?.id);
  }

  /** Rejects, and tells the agent why as soon as it listens. */
  rejectWith(sessionId: string, questionId: string, comment: string): void {
    const text = comment.trim();
    if (text) {
      const prompt = { blocks: [{ type: "text" as const, text }], said: { text, pictures: [], links: [] } };
      this.prompts.send(sessionId, prompt, "first");
    }
    this.dismiss(sessionId, questionId);
  }

  /** Goes on with sessions that stand here, by an agent that was started anew; prompts wait until it is done. */
  async takeUp(ids: readonly string[]): Promise<void> {
    const inPhase = (phase: SessionState["phase"]): void => {
      for (const id of ids) this.store.change(id, (state) => ({ ...state, phase }));
    };
    inPhase("loading");
    try {
      for (const id of ids) await this.sessions.takeUp(id);
    } finally {
      inPhase("idle");
    }
    for (const id of ids) this.prompts.next(id);
  }

  /** Signs in by a method of the agent's. */
  async authenticate(methodId: string): Promise<void> {
    const { agent } = await this.link.connection();
    await agent.request(methods.agent.authenticate, { methodId });
  }

  /** Ends the agent; nothing of it is left behind. */
  async dispose(): Promise<void> {
    this.open.permissions.dismiss();
    this.open.elicitations.dismiss();
    await this.link.stop();
  }

  async #connect(): Promise<Connection> {
    const around = this.#around;
    const terminals = terminalDesk(this.store, this.open, around);
    const desks: Desks = {
      terminals,
      permission: permissionDesk(this.store, this.open, around),
      elicitation: elicitationDesk(this.store, this.open, around),
      writing: writingDesk(this.store, this.open, around),
      reading: around.reading,
      update: (notification) => { this.sessions.update(notification); },
      status: (sessionId, status) => { this.store.change(sessionId, (state) => ({ ...state, status })); },
    };
    const watch = around.watch();
    const log = (line: string): void => { around.log(line); };
    const app = clientApp(desks);
    const launch = around.launch();
    const connection = await connect({ launch, version: around.version, app, log, ...(watch ? { watch } : {}) });
    void connection.ended.then(() => { terminals.dispose(); });
    this.about = connection.about;
    return connection;
  }

  /** The agent crashed: turns that ran have failed, and it is started again with the sessions that stand here. */
  async #gone(ended: Ended, again: boolean): Promise<void> {
    this.open.permissions.dismiss();
    this.open.elicitations.dismiss();
    const sessions = [...this.store.state.sessions.values()];
    for (const { id } of sessions) this.store.change(id, (state) => afterCrash(state, endOf(ended)));
    this.#around.log(endOf(ended));
    if (!again) {
      this.store.trouble({ text: endOf(ended), actions: [{ id: "retry", title: "Start Again" }, { id: "log", title: "Show the Log" }] });
      return;
    }
    await this.attempt(() => this.takeUp(sessions.map(({ id }) => id)));
  }
}

function cardOf(state: SessionState | undefined, questionId: string): Card | undefined {
  const found = state?.entries.find((entry) => entry.kind === "card" && entry.permission?.questionId === questionId);
  return found?.kind === "card" ? found : undefined;
}

function afterCrash(state: SessionState, text: string): SessionState {
  return state.phase === "running"
    ? failTurn(state, text, Date.now())
    : withNotice({ ...state, phase: "idle" }, "warning", [text, "It was started again."]);
}
