/** `session/request_permission`: the card asks, the person answers; no answer is a rejection. */

import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { Choice, Permission } from "../state/model.ts";
import { commandOf } from "../state/cards.ts";
import type { Allowed } from "./allowed.ts";
import type { Questions } from "./questions.ts";

/** The id of the option that was chosen; undefined when the turn was cancelled. */
export type PermissionAnswer = string | undefined;

export interface PermissionDesk {
  readonly questions: Questions<PermissionAnswer>;
  readonly allowed: Allowed;
  asked(request: RequestPermissionRequest, permission: Permission): void;
  answered(sessionId: string, questionId: string, answer: Choice | undefined): void;
}

/** Asks, and answers the agent with what was chosen. */
export async function requestPermission(
  desk: PermissionDesk,
  request: RequestPermissionRequest,
  signal: AbortSignal,
): Promise<RequestPermissionResponse> {
  const permission = permissionOf(desk.questions.name(), request);
  desk.asked(request, permission);
  const answer = await desk.questions.ask(permission.questionId, request.sessionId, undefined, signal);
  const chosen = permission.choices.find((choice) => choice.id === answer);
  desk.answered(request.sessionId, permission.questionId, chosen);
  if (!chosen) return { outcome: { outcome: "cancelled" } };
  if (permission.command !== undefined) desk.allowed.note(request.sessionId, permission.command, chosen.kind);
  return { outcome: { outcome: "selected", optionId: chosen.id } };
}

/** The choice that dismissing means: a rejection, once if that is offered. */
export function rejection(choices: readonly Choice[]): Choice | undefined {
  return (
    choices.find((choice) => choice.kind === "reject_once") ?? choices.find((choice) => choice.kind === "reject_always")
  );
}

function permissionOf(questionId: string, request: RequestPermissionRequest): Permission {
  const choices = request.options.map((option) => ({ id: option.optionId, name: option.name, kind: option.kind }));
  const command = commandOf(request.toolCall.rawInput);
  return { questionId, choices, ...(command === undefined ? {} : { command }) };
}
