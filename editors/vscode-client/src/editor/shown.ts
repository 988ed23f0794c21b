/** What the editor shows of the chat outside of it, and what the chat shows of the editor. */

import * as vscode from "vscode";
import type { StoreState } from "../chat/store.ts";
import { rangeLabel } from "./attachments.ts";
import { closeDiffsOf, type Diffs } from "./diffs.ts";

/** Where the selection of the active editor is; undefined without one. */
export function selectionLabel(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.selection.isEmpty || editor.document.uri.scheme !== "file") return undefined;
  return rangeLabel(editor.document.uri, editor.selection);
}

/** Follows the open questions: keys and buttons for them are there while there are any, and their diffs close after. */
export function openQuestionsShown(diffs: Diffs): (state: StoreState) => void {
  let before = new Set<string>();
  return (state) => {
    const now = questionsIn(state);
    if (before.size === now.size && [...now].every((id) => before.has(id))) return;
    void vscode.commands.executeCommand("setContext", "hermes-acp.asking", now.size > 0);
    for (const id of before) if (!now.has(id)) void closeDiffsOf(diffs, id);
    before = now;
  };
}

function questionsIn(state: StoreState): Set<string> {
  const entries = [...state.sessions.values()].flatMap((session) => session.entries);
  return new Set(entries.flatMap((entry) => {
    if (entry.kind === "card") return entry.permission ? [entry.permission.questionId] : [];
    return (entry.kind === "form" || entry.kind === "page") && entry.outcome === undefined ? [entry.questionId] : [];
  }));
}
