/** What stands around the conversation, made of the store and of what the editor knows. */

import { basename } from "node:path";
import type { InitializeResponse } from "@agentclientprotocol/sdk";
import type { SessionState } from "../state/model.ts";
import type { Attachment, Frame, Tab } from "./protocol.ts";
import type { StoreState } from "./store.ts";

export interface FrameSources {
  about(): InitializeResponse | undefined;
  attachments(): readonly Attachment[];
  selection(): string | undefined;
  waits(sessionId: string): boolean;
}

export function frameOf(state: StoreState, sources: FrameSources): Frame {
  const session = state.active === undefined ? undefined : state.sessions.get(state.active);
  const about = sources.about();
  return {
    tabs: [...state.sessions.values()].map((each) => tab(each, sources)),
    active: state.active,
    agent: about && (about.agentInfo?.title ?? about.agentInfo?.name ?? "The agent"),
    folder: basename(session?.cwd ?? ""),
    problem: state.problem,
    phase: session?.phase ?? "none",
    status: session?.status ?? "",
    options: session?.options ?? [],
    commands: session?.commands ?? [],
    queue: session?.queue ?? [],
    usage: session?.usage,
    images: about?.agentCapabilities?.promptCapabilities?.image ?? false,
    canUndo: canUndo(session),
    attachments: sources.attachments(),
    selection: sources.selection(),
  };
}

/** There is a turn, and the agent has the command for it. */
function canUndo(session: SessionState | undefined): boolean {
  const said = session?.entries.some((entry) => entry.kind === "user") ?? false;
  return said && (session?.commands.some((command) => command.name === "undo") ?? false);
}

function tab(session: SessionState, sources: FrameSources): Tab {
  const asked = session.entries.find((entry) => entry.kind === "user");
  const title = session.title || (asked?.kind === "user" ? firstLine(asked.text) : "") || "New session";
  return { id: session.id, title, running: session.phase === "running", asks: sources.waits(session.id) };
}

function firstLine(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length <= 40 ? line : `${line.slice(0, 39)}…`;
}
