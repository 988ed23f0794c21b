/** What answers the agent's requests: each desk changes the store, and waits where a person has to decide. */

import { Allowed } from "../asks/allowed.ts";
import type { ElicitationAnswer, ElicitationDesk } from "../asks/elicitation.ts";
import type { PermissionAnswer, PermissionDesk } from "../asks/permission.ts";
import { Questions } from "../asks/questions.ts";
import { Terminals } from "../asks/terminals.ts";
import type { Writing } from "../asks/writeTextFile.ts";
import { readTextFile } from "../asks/readTextFile.ts";
import { answerInCard, askInCard } from "../state/cards.ts";
import { answerElicitation, askForm, askPage } from "../state/elicitation.ts";
import { append, lastIndex, replaceAt } from "../state/entries.ts";
import type { Choice, SessionState } from "../state/model.ts";
import { withOutput } from "../state/terminals.ts";
import { askOutside, askTerminal, type OwnDesk, type OwnQuestion } from "./ownQuestions.ts";
import type { Store } from "./store.ts";
import type { Surroundings } from "./surroundings.ts";

/** What stands open: questions of permission, and forms. */
export interface OpenQuestions {
  readonly permissions: Questions<PermissionAnswer>;
  readonly elicitations: Questions<ElicitationAnswer>;
  readonly allowed: Allowed;
}

export function openQuestions(): OpenQuestions {
  return { permissions: new Questions("p"), elicitations: new Questions("f"), allowed: new Allowed() };
}

export function permissionDesk(store: Store, open: OpenQuestions, around: Surroundings): PermissionDesk {
  return {
    questions: open.permissions,
    allowed: open.allowed,
    asked: ({ sessionId, toolCall }, permission) => {
      store.change(sessionId, (state) => askInCard(state, toolCall, permission, Date.now()));
      around.told(sessionId, "asks");
    },
    answered: (sessionId, questionId, answer) => {
      store.change(sessionId, (state) => answerInCard(state, questionId, answer));
    },
  };
}

export function elicitationDesk(store: Store, open: OpenQuestions, around: Surroundings): ElicitationDesk {
  const change = (sessionId: string, reduce: (state: SessionState) => SessionState): void => {
    store.change(sessionId, reduce);
    around.told(sessionId, "asks");
  };
  return {
    questions: open.elicitations,
    current: () => store.state.active ?? "",
    askForm: (sessionId, questionId, message, fields) => {
      change(sessionId, (state) => askForm(state, questionId, message, fields));
    },
    askPage: (sessionId, questionId, message, url) => {
      change(sessionId, (state) => askPage(state, questionId, message, url));
    },
    open: (url) => around.open(url),
    answered: (sessionId, questionId, outcome) => {
      store.change(sessionId, (state) => answerElicitation(state, questionId, outcome));
    },
  };
}

export function writingDesk(store: Store, open: OpenQuestions, around: Surroundings): Writing {
  const own = ownDesk(store, open, around);
  return {
    folders: around.folders,
    write: (path, content) => around.write(path, content),
    askOutside: async (sessionId, path, content, signal) => {
      const before = await readTextFile(around.reading, { sessionId, path }).catch(() => undefined);
      return askOutside(own, sessionId, { path, oldText: before?.content ?? null, newText: content }, signal);
    },
  };
}

export function terminalDesk(store: Store, open: OpenQuestions, around: Surroundings): Terminals {
  const own = ownDesk(store, open, around);
  return new Terminals({
    mayRun: (request, signal) => askTerminal(own, request, signal),
    screen: (run) => around.screen(run),
    cwd: (sessionId) => store.session(sessionId)?.cwd ?? around.launch().cwd,
    changed: (sessionId, terminalId, output, ended) => {
      store.change(sessionId, (state) => ({
        ...state,
        terminals: withOutput(state.terminals, terminalId, output, ended),
      }));
    },
  });
}

function ownDesk(store: Store, open: OpenQuestions, around: Surroundings): OwnDesk {
  return {
    questions: open.permissions,
    allowed: open.allowed,
    ask: (question) => {
      store.change(question.sessionId, (state) => withOwnCard(state, question));
      around.told(question.sessionId, "asks");
    },
    answered: (sessionId, questionId, answer) => {
      store.change(sessionId, (state) => closeOwnCard(state, questionId, answer));
    },
  };
}

function withOwnCard(state: SessionState, question: OwnQuestion): SessionState {
  const { questionId, title, tool, parts, choices, command } = question;
  const named = command === undefined ? {} : { command };
  const permission = { questionId, choices, ...named };
  const callId = `own:${questionId}`;
  return append(state, { kind: "card", callId, title, tool, status: "pending", parts, places: [], ...named, permission });
}

function closeOwnCard(state: SessionState, questionId: string, answer: Choice | undefined): SessionState {
  const answered = answerInCard(state, questionId, answer);
  const index = lastIndex(answered, (entry) => entry.kind === "card" && entry.callId === `own:${questionId}`);
  const card = answered.entries[index];
  const status = answer?.kind.startsWith("allow") ? "completed" : "failed";
  return card?.kind === "card" ? replaceAt(answered, index, { ...card, status }) : answered;
}
