/** A word to someone who looks elsewhere: a turn has ended, or a question waits. */

import type { StopReason } from "@agentclientprotocol/sdk";
import * as vscode from "vscode";

export interface Watching {
  /** Whether the chat is on the screen of a window that has the focus. */
  looksAtChat(): boolean;
  titleOf(sessionId: string): string;
  show(sessionId: string): void;
}

/** Tells it, unless it can be seen anyway. */
export function notify(watching: Watching, sessionId: string, what: StopReason | "failed" | "asks"): void {
  if (watching.looksAtChat() || what === "cancelled") return;
  const title = watching.titleOf(sessionId);
  void vscode.window.showInformationMessage(`${WORDS[what]}: ${title}`, "Show").then((chosen) => {
    if (chosen) watching.show(sessionId);
  });
}

const WORDS = {
  asks: "The agent asks you something",
  failed: "The turn failed",
  end_turn: "The turn has ended",
  max_tokens: "The turn ended at the model's limit",
  max_turn_requests: "The turn ended at its limit of calls",
  refusal: "The model declined",
} as const;
