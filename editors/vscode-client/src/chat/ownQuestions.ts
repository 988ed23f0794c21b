/** Questions of the editor's own, for what an agent wants to do without having asked. */

import type { CreateTerminalRequest } from "@agentclientprotocol/sdk";
import type { Allowed } from "../asks/allowed.ts";
import type { PermissionAnswer } from "../asks/permission.ts";
import type { Questions } from "../asks/questions.ts";
import type { CardPart, Choice } from "../state/model.ts";

export interface OwnQuestion {
  readonly sessionId: string;
  readonly questionId: string;
  readonly title: string;
  readonly tool: "execute" | "edit";
  readonly parts: readonly CardPart[];
  readonly choices: readonly Choice[];
  readonly command?: string;
}

export interface OwnDesk {
  readonly questions: Questions<PermissionAnswer>;
  readonly allowed: Allowed;
  ask(question: OwnQuestion): void;
  answered(sessionId: string, questionId: string, answer: Choice | undefined): void;
}

const ONCE: Choice = { id: "allow", name: "Allow once", kind: "allow_once" };
const ALWAYS: Choice = { id: "always", name: "Allow this command for this session", kind: "allow_always" };
const REJECT: Choice = { id: "reject", name: "Reject", kind: "reject_once" };

/** Whether a command may run: it was allowed in a card, or is allowed now. */
export async function askTerminal(desk: OwnDesk, request: CreateTerminalRequest, signal: AbortSignal): Promise<boolean> {
  const { sessionId, command, args = [] } = request;
  if (desk.allowed.use(sessionId, command, args)) return true;
  const line = [command, ...args].join(" ");
  const title = "The agent runs a command in a terminal";
  // Without arguments it may be a whole line for a shell, and is run as one.
  const shown = args.length ? [command, ...args].map(quoted).join(" ") : command;
  const question = { sessionId, title, tool: "execute" as const, parts: [], choices: [ONCE, ALWAYS, REJECT], command: shown };
  const answer = await ask(desk, question, signal);
  if (answer === ALWAYS.id) desk.allowed.note(sessionId, line, "allow_always");
  return answer === ONCE.id || answer === ALWAYS.id;
}

/** A word as a shell would have to be told it, so that one sees where it ends. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Whether a file outside of the workspace may be written. */
export async function askOutside(
  desk: OwnDesk,
  sessionId: string,
  change: { path: string; oldText: string | null; newText: string },
  signal: AbortSignal,
): Promise<boolean> {
  const title = `The agent writes outside of the workspace: ${change.path}`;
  const parts: CardPart[] = [{ kind: "diff", change }];
  const answer = await ask(desk, { sessionId, title, tool: "edit", parts, choices: [ONCE, REJECT] }, signal);
  return answer === ONCE.id;
}

async function ask(desk: OwnDesk, asked: Omit<OwnQuestion, "questionId">, signal: AbortSignal): Promise<PermissionAnswer> {
  const questionId = desk.questions.name();
  desk.ask({ ...asked, questionId });
  const answer = await desk.questions.ask(questionId, asked.sessionId, undefined, signal);
  const chosen = asked.choices.find((choice) => choice.id === answer);
  desk.answered(asked.sessionId, questionId, chosen);
  return answer;
}
