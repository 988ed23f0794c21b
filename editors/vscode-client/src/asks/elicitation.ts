/** `elicitation/create`: a form to fill, or a page to open after its host was shown. */

import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationContentValue,
  ElicitationSchema,
} from "@agentclientprotocol/sdk";
import { fieldsOf, hostOf, known, problems } from "../state/elicitation.ts";
import type { Field } from "../state/model.ts";
import type { Questions } from "./questions.ts";

export type ElicitationAnswer =
  | { readonly action: "accept"; readonly values: Readonly<Record<string, ElicitationContentValue>> }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

export interface ElicitationDesk {
  readonly questions: Questions<ElicitationAnswer>;
  /** The session of a question that names none: it is asked during a request. */
  current(): string;
  askForm(sessionId: string, questionId: string, message: string, fields: readonly Field[]): void;
  askPage(sessionId: string, questionId: string, message: string, url: string): void;
  open(url: string): Promise<void>;
  answered(sessionId: string, questionId: string, outcome: string): void;
}

const CANCELLED: ElicitationAnswer = { action: "cancel" };

/** Asks, and answers the agent; a kind that is not known here, or an address that is none, is declined. */
export async function createElicitation(
  desk: ElicitationDesk,
  request: CreateElicitationRequest,
  signal: AbortSignal,
): Promise<CreateElicitationResponse> {
  const { message } = request;
  const given = request as { sessionId?: unknown; requestedSchema?: ElicitationSchema; url?: unknown };
  const sessionId = typeof given.sessionId === "string" ? given.sessionId : desk.current();
  if (request.mode === "form" && given.requestedSchema) {
    return form(desk, sessionId, message, fieldsOf(given.requestedSchema), signal);
  }
  if (request.mode === "url" && typeof given.url === "string" && hostOf(given.url) !== "") {
    return page(desk, sessionId, message, given.url, signal);
  }
  return { action: "decline" };
}

async function form(
  desk: ElicitationDesk,
  sessionId: string,
  message: string,
  fields: readonly Field[],
  signal: AbortSignal,
): Promise<CreateElicitationResponse> {
  const questionId = desk.questions.name();
  desk.askForm(sessionId, questionId, message, fields);
  const answer = await desk.questions.ask(questionId, sessionId, CANCELLED, signal);
  // The webview checks as one types; what is sent is checked here.
  const valid = answer.action !== "accept" || Object.keys(problems(fields, answer.values)).length === 0;
  const final = valid ? answer : CANCELLED;
  desk.answered(sessionId, questionId, OUTCOMES[final.action]);
  return final.action === "accept" ? { action: "accept", content: known(fields, final.values) } : final;
}

async function page(
  desk: ElicitationDesk,
  sessionId: string,
  message: string,
  url: string,
  signal: AbortSignal,
): Promise<CreateElicitationResponse> {
  const questionId = desk.questions.name();
  desk.askPage(sessionId, questionId, message, url);
  const answer = await desk.questions.ask(questionId, sessionId, CANCELLED, signal);
  if (answer.action === "accept") await desk.open(url);
  desk.answered(sessionId, questionId, answer.action === "accept" ? "Opened" : OUTCOMES[answer.action]);
  return { action: answer.action };
}

const OUTCOMES = { accept: "Answered", decline: "Declined", cancel: "Closed" } as const;
