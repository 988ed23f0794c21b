/** What goes with the next prompt: the selection, files, problems; turned into content of the protocol. */

import type { ContentBlock } from "@agentclientprotocol/sdk";
import * as vscode from "vscode";
import type { Attachment } from "../chat/protocol.ts";

interface Held {
  readonly attachment: Attachment;
  readonly block: (embeds: boolean) => ContentBlock;
}

/** The attachments that wait for the next prompt. */
export class Attachments {
  #held: Held[] = [];
  #next = 1;

  get shown(): Attachment[] {
    return this.#held.map(({ attachment }) => attachment);
  }

  file(uri: vscode.Uri): void {
    this.#add("file", vscode.workspace.asRelativePath(uri), () => link(uri));
  }

  selection(document: vscode.TextDocument, range: vscode.Range): void {
    const text = document.getText(range);
    const [from, to] = [range.start.line + 1, range.end.line + 1];
    this.#add("selection", rangeLabel(document.uri, range), (embeds) => excerpt(document.uri, from, to, text, embeds));
  }

  problem(uri: vscode.Uri, diagnostic: vscode.Diagnostic): void {
    const line = diagnostic.range.start.line + 1;
    const label = `${vscode.workspace.asRelativePath(uri)}:${line} ${diagnostic.message}`;
    const text = `${uri.fsPath}:${line}: ${severity(diagnostic)}: ${diagnostic.message}`;
    this.#add("problem", label.slice(0, 120), () => ({ type: "text", text }));
  }

  remove(id: string): void {
    this.#held = this.#held.filter(({ attachment }) => attachment.id !== id);
  }

  /** All of them as content, and none is left. */
  take(embeds: boolean): ContentBlock[] {
    const blocks = this.#held.map(({ block }) => block(embeds));
    this.#held = [];
    return blocks;
  }

  #add(kind: Attachment["kind"], label: string, block: Held["block"]): void {
    if (this.#held.some(({ attachment }) => attachment.label === label)) return;
    this.#held = [...this.#held, { attachment: { id: `a${this.#next++}`, kind, label }, block }];
  }
}

/** A file by its address; the agent reads it when it needs it. */
export function link(uri: vscode.Uri): ContentBlock {
  return { type: "resource_link", name: vscode.workspace.asRelativePath(uri), uri: uri.toString() };
}

/** Where a selection is, such as `src/a.ts:3-9`. */
export function rangeLabel(uri: vscode.Uri, range: vscode.Range): string {
  return `${vscode.workspace.asRelativePath(uri)}:${range.start.line + 1}-${range.end.line + 1}`;
}

/** Lines of a file, embedded where the agent takes that, else quoted. */
function excerpt(uri: vscode.Uri, from: number, to: number, text: string, embeds: boolean): ContentBlock {
  if (embeds) return { type: "resource", resource: { uri: `${uri.toString()}#L${from}-L${to}`, text } };
  return { type: "text", text: `\n\n${uri.fsPath}, lines ${from} to ${to}:\n${fenced(text)}\n` };
}

/** Text in a fence that is longer than any in it. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function severity(diagnostic: vscode.Diagnostic): string {
  return ["error", "warning", "information", "hint"][diagnostic.severity] ?? "problem";
}
