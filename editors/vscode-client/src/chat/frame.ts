/** What stands around the conversation, made of the store and of what the editor knows. */

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
    agent: about?.agentInfo?.title ?? about?.agentInfo?.name ,
    problem: state.problem,
    phase: session?.phase ?? "none",
    status: session?.status ?? "",
    options: session?.options ?? [],
    commands: session?.commands ?? [],
    queue: session?.queue ?? [],
    usage: session?.usage,
    images: about?.agentCapabilities?.promptCapabilities?.image ?? false,
    canUndo: session?.commands.some((command) => command.name === "undo") ?? false,
    attachments: sources.attachments(),
    selection: sources.selection(),
  };
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
