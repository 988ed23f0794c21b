/** Which sessions were open, so that they stand there again after the window was reloaded. */

import type * as vscode from "vscode";
import * as z from "zod/mini";
import type { OpenSession } from "../chat/sessions.ts";
import type { StoreState } from "../chat/store.ts";

const KEY = "sessions";
const MOST = 10;

const kept = z.object({
  active: z.optional(z.string()),
  sessions: z.array(z.object({ id: z.string(), cwd: z.string(), title: z.string() })),
});

export interface Kept {
  readonly active: string | undefined;
  readonly sessions: readonly OpenSession[];
}

export function recall(memory: vscode.Memento): Kept {
  const read = kept.safeParse(memory.get(KEY));
  return read.success ? { active: read.data.active, sessions: read.data.sessions } : { active: undefined, sessions: [] };
}

/** Writes down the sessions that something was said in. */
export async function remember(memory: vscode.Memento, state: StoreState): Promise<void> {
  const said = [...state.sessions.values()].filter((session) => session.entries.length > 0 || session.phase === "loading");
  const sessions = said.slice(-MOST).map(({ id, cwd, title }) => ({ id, cwd, title }));
  const value = { active: state.active, sessions };
  if (JSON.stringify(value) !== JSON.stringify(memory.get(KEY))) await memory.update(KEY, value);
}
