/** Changes in the editor's own diff view, before and after they are made. */

import { basename } from "node:path";
import * as vscode from "vscode";
import type { Change } from "../state/model.ts";

export const SCHEME = "hermes-acp-diff";

export interface Shown {
  readonly change: Change;
  readonly sessionId: string;
  /** The question that the change is part of, while it is open. */
  readonly questionId: string | undefined;
}

/** Sides that are kept: the texts of diffs which may still be open. */
const MOST_KEPT = 100;

/** Serves both sides of the diffs that were opened. */
export class Diffs implements vscode.TextDocumentContentProvider {
  readonly #shown = new Map<string, Shown>();
  #next = 1;

  /** Opens a change; its name says what it is. */
  async open(shown: Shown): Promise<void> {
    const key = String(this.#next++);
    this.#shown.set(key, shown);
    for (const old of [...this.#shown.keys()].slice(0, -MOST_KEPT)) this.#shown.delete(old);
    const { path } = shown.change;
    const title = `${basename(path)} (${shown.questionId ? "proposed by the agent" : "changed by the agent"})`;
    await vscode.commands.executeCommand("vscode.diff", side(path, key, "old"), side(path, key, "new"), title, {
      preview: true,
      preserveFocus: false,
    });
  }

  /** What a side of a diff belongs to. */
  of(uri: vscode.Uri | undefined): Shown | undefined {
    return uri?.scheme === SCHEME ? this.#shown.get(uri.query.split("&")[0] ?? "") : undefined;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const shown = this.of(uri);
    if (!shown) return "";
    return uri.query.endsWith("&old") ? (shown.change.oldText ?? "") : shown.change.newText;
  }
}

/** The diffs of a question that was answered are closed. */
export async function closeDiffsOf(diffs: Diffs, questionId: string): Promise<void> {
  for (const group of vscode.window.tabGroups.all) {
    const mine = group.tabs.filter(({ input }) => {
      return input instanceof vscode.TabInputTextDiff && diffs.of(input.modified)?.questionId === questionId;
    });
    if (mine.length) await vscode.window.tabGroups.close(mine, true);
  }
}

function side(path: string, key: string, which: "old" | "new"): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme: SCHEME, query: `${key}&${which}` });
}
