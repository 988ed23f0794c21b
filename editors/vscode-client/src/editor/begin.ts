/** The beginning: the agent is started, and the sessions of before stand there again. */

import type * as vscode from "vscode";
import type { Chat } from "../chat/chat.ts";
import { recall } from "./memory.ts";
import { folder } from "./settings.ts";

/** Starts the agent and takes up what was open; without anything, a session begins. */
export async function begin(chat: Chat, context: vscode.ExtensionContext): Promise<void> {
  await chat.attempt(async () => {
    await chat.link.connection();
    const open = [...chat.store.state.sessions.keys()];
    if (open.length) await chat.takeUp(open);
    else await restore(chat, context);
    if (chat.store.state.sessions.size === 0) await chat.sessions.create(folder());
  });
}

async function restore(chat: Chat, context: vscode.ExtensionContext): Promise<void> {
  const kept = recall(context.workspaceState);
  for (const session of kept.sessions) {
    // One that the agent does not know any more is let go.
    await chat.sessions.load(session).catch((error: unknown) => { chat.note(error); });
  }
  if (kept.active !== undefined) chat.store.select(kept.active);
}
