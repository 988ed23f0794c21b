/** A turn from the prompt to its end, and the prompts that wait for it. */

import type { StopReason } from "@agentclientprotocol/sdk";
import { abandonCards } from "./cards.ts";
import { endThought } from "./chunks.ts";
import { append } from "./entries.ts";
import type { Picture, Queued, SessionState } from "./model.ts";
import { withNotice } from "./update.ts";

export interface Said {
  readonly text: string;
  readonly pictures: readonly Picture[];
  readonly links: readonly { readonly name: string; readonly uri: string }[];
}

/** The session with the person's prompt, and its turn begun. */
export function beginTurn(state: SessionState, said: Said): SessionState {
  const { text, pictures, links } = said;
  return { ...append(state, { kind: "user", text, pictures, links }), phase: "running", status: "" };
}

/** The session after the prompt was answered; reasons other than the usual one are told. */
export function endTurn(state: SessionState, reason: StopReason, at: number): SessionState {
  const idle: SessionState = { ...endThought(state, at), phase: "idle", status: "" };
  const told = toldReason(reason);
  return told === undefined ? idle : withNotice(abandonCards(idle), "info", [told]);
}

/** The session after the prompt failed. */
export function failTurn(state: SessionState, message: string, at: number): SessionState {
  const idle: SessionState = { ...abandonCards(endThought(state, at)), phase: "idle", status: "" };
  return withNotice(idle, "error", [message]);
}

/** The session with a prompt that waits; `first` of all when it answers what was just rejected. */
export function enqueue(state: SessionState, queued: Queued, place: "first" | "last"): SessionState {
  return { ...state, queue: place === "first" ? [queued, ...state.queue] : [...state.queue, queued] };
}

/** The session without a waiting prompt. */
export function dequeue(state: SessionState, id: string): SessionState {
  return { ...state, queue: state.queue.filter((each) => each.id !== id) };
}

function toldReason(reason: StopReason): string | undefined {
  switch (reason) {
    case "end_turn":
      return undefined;
    case "cancelled":
      return "Stopped.";
    case "max_tokens":
      return "The answer reached the model's limit and was cut.";
    case "max_turn_requests":
      return "The turn reached its limit of model calls.";
    case "refusal":
      return "The model declined to answer.";
  }
}
