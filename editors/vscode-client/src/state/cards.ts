/** Tool calls as cards: what an update changes, and the questions in them. */

import type { ToolCall, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { endThought, textOf } from "./chunks.ts";
import { append, lastIndex, replaceAt } from "./entries.ts";
import type { Card, CardPart, Choice, Permission, Place, SessionState } from "./model.ts";

/** Characters of one output that a card keeps: its end, which is what one looks for. */
export const MOST_OUTPUT = 200_000;

/** The session after `tool_call` or `tool_call_update`; an update of an unknown call makes its card. */
export function changeCard(state: SessionState, update: ToolCall | ToolCallUpdate, at: number): SessionState {
  const index = cardIndex(state, update.toolCallId);
  const known = state.entries[index];
  if (known?.kind === "card") return replaceAt(state, index, { ...known, ...changes(known, update) });
  const blank = blankCard(update.toolCallId);
  return append(endThought(state, at), { ...blank, ...changes(blank, update) });
}

/** The session with a question of permission in the card of its call. */
export function askInCard(state: SessionState, call: ToolCallUpdate, permission: Permission, at: number): SessionState {
  const changed = changeCard(state, call, at);
  const index = cardIndex(changed, call.toolCallId);
  const card = changed.entries[index] as Card;
  const command = permission.command ?? card.command;
  return replaceAt(changed, index, {
    ...card,
    permission: { ...permission, ...(command === undefined ? {} : { command }) },
  });
}

/** The session with a question closed, and what was answered; nothing when the question was taken back. */
export function answerInCard(state: SessionState, questionId: string, answer: Choice | undefined): SessionState {
  const index = lastIndex(state, (entry) => entry.kind === "card" && entry.permission?.questionId === questionId);
  const card = state.entries[index];
  if (card?.kind !== "card") return state;
  const { permission: _, ...rest } = card;
  return replaceAt(state, index, { ...rest, answer: answer?.name ?? "Taken back", refused: answer?.kind.startsWith("reject") ?? false });
}

/** Cards that still ran when the agent went away never end by themselves. */
export function abandonCards(state: SessionState): SessionState {
  const entries = state.entries.map((entry) => {
    if (entry.kind !== "card" || entry.status === "completed" || entry.status === "failed") return entry;
    const { permission: _, ...rest } = entry;
    return { ...rest, status: "failed" as const };
  });
  return { ...state, entries };
}

/** The command that a call's input names, the only words that say exactly what will run. */
export function commandOf(rawInput: unknown): string | undefined {
  if (typeof rawInput !== "object" || rawInput === null) return undefined;
  const { command, cmd } = rawInput as { command?: unknown; cmd?: unknown };
  const named = command ?? cmd;
  if (typeof named === "string") return named;
  return Array.isArray(named) && named.every((word) => typeof word === "string") ? named.join(" ") : undefined;
}

function cardIndex(state: SessionState, callId: string): number {
  return lastIndex(state, (entry) => entry.kind === "card" && entry.callId === callId);
}

function blankCard(callId: string): Omit<Card, "id"> {
  return { kind: "card", callId, title: "", tool: "other", status: "pending", parts: [], places: [] };
}

function changes(known: Omit<Card, "id">, update: ToolCall | ToolCallUpdate): Partial<Card> {
  const command = commandOf(update.rawInput);
  return {
    title: update.title ?? known.title,
    tool: update.kind ?? known.tool,
    status: update.status ?? known.status,
    ...(update.content ? { parts: update.content.map(part) } : {}),
    ...(update.locations ? { places: update.locations.map(place) } : {}),
    ...(command === undefined ? {} : { command }),
  };
}

function part(content: ToolCallContent): CardPart {
  switch (content.type) {
    case "diff":
      return {
        kind: "diff",
        change: { path: content.path, oldText: content.oldText ?? null, newText: content.newText },
      };
    case "terminal":
      return { kind: "terminal", terminalId: content.terminalId };
    case "content":
      return contentPart(content.content);
  }
}

function contentPart(block: Parameters<typeof textOf>[0]): CardPart {
  if (block.type === "image") return { kind: "image", picture: { mimeType: block.mimeType, data: block.data } };
  if (block.type === "resource_link") return { kind: "link", name: block.title ?? block.name, uri: block.uri };
  return { kind: "text", text: ending(textOf(block)) };
}

function place(location: { path: string; line?: number | null }): Place {
  return { path: location.path, ...(location.line ? { line: location.line } : {}) };
}

function ending(text: string): string {
  return text.length <= MOST_OUTPUT ? text : `… ${text.slice(-MOST_OUTPUT)}`;
}
