/** Text that comes in pieces: answers, thoughts, and the person's own words in a replay. */

import type { ContentBlock } from "@agentclientprotocol/sdk";
import { append, replaceAt } from "./entries.ts";
import type { Picture, SessionState, ThoughtEntry } from "./model.ts";

/** What a block of content reads like where only text can stand. */
export function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${block.title ?? block.name}]`;
    case "resource":
      return "text" in block.resource ? block.resource.text : `[${block.resource.uri}]`;
    case "image":
      return "[image]";
    case "audio":
      return "[audio]";
  }
}

/** A piece of the agent's answer. */
export function agentChunk(state: SessionState, text: string, messageId: string | undefined, at: number): SessionState {
  if (text === "") return state;
  const closed = endThought(state, at);
  const last = closed.entries.at(-1);
  if (last?.kind === "agent" && sameMessage(last.messageId, messageId)) {
    return replaceAt(closed, closed.entries.length - 1, { ...last, text: last.text + text });
  }
  return append(closed, { kind: "agent", text, ...named(messageId) });
}

/** A piece of a thought; times are known only while it happens, not in a replay. */
export function thoughtChunk(
  state: SessionState,
  text: string,
  messageId: string | undefined,
  at: number,
): SessionState {
  if (text === "") return state;
  const last = state.entries.at(-1);
  if (last?.kind === "thought" && sameMessage(last.messageId, messageId)) {
    return replaceAt(state, state.entries.length - 1, { ...last, text: last.text + text });
  }
  const closed = endThought(state, at);
  const times = state.phase === "running" ? { began: at } : {};
  return append(closed, { kind: "thought", text, ...named(messageId), ...times });
}

/** A piece of the person's own words, in a replay; while a turn runs they stand here already. */
export function userChunk(state: SessionState, block: ContentBlock, messageId: string | undefined): SessionState {
  if (state.phase === "running") return state;
  const last = state.entries.at(-1);
  const open = last?.kind === "user" && sameMessage(last.messageId, messageId) ? last : undefined;
  const base = open ?? { kind: "user" as const, text: "", pictures: [], links: [], ...named(messageId) };
  const grown = { ...base, ...added(base, block) };
  return open ? replaceAt(state, state.entries.length - 1, { ...open, ...grown }) : append(state, grown);
}

/** The thought that was open has its end. */
export function endThought(state: SessionState, at: number): SessionState {
  const last = state.entries.at(-1);
  if (last?.kind !== "thought" || last.began === undefined || last.ended !== undefined) return state;
  const ended: ThoughtEntry = { ...last, ended: at };
  return replaceAt(state, state.entries.length - 1, ended);
}

interface UserParts {
  readonly text: string;
  readonly pictures: readonly Picture[];
  readonly links: readonly { readonly name: string; readonly uri: string }[];
}

function added(base: UserParts, block: ContentBlock): UserParts {
  const { text, pictures, links } = base;
  switch (block.type) {
    case "image":
      return { text, links, pictures: [...pictures, { mimeType: block.mimeType, data: block.data }] };
    case "resource_link":
      return { text, pictures, links: [...links, { name: block.name, uri: block.uri }] };
    case "resource":
      return { text, pictures, links: [...links, { name: nameOf(block.resource.uri), uri: block.resource.uri }] };
    default:
      return { text: text + textOf(block), pictures, links };
  }
}

function nameOf(uri: string): string {
  return uri.split("/").at(-1) ?? uri;
}

function sameMessage(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

function named(messageId: string | undefined): { messageId?: string } {
  return messageId === undefined ? {} : { messageId };
}
