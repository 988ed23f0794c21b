/** One `session/update` applied to a session; the only place that knows all kinds of updates. */

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { changeCard } from "./cards.ts";
import { agentChunk, endThought, textOf, thoughtChunk, userChunk } from "./chunks.ts";
import { append, lastIndex, replaceAt } from "./entries.ts";
import type { NoticeEntry, SessionState } from "./model.ts";
import { withMode, withOptions } from "./options.ts";

/**
 * The session after an update.
 *
 * Kinds that this client does not know change nothing: an agent may be newer.
 */
export function applyUpdate(state: SessionState, update: SessionUpdate, at: number): SessionState {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      return agentChunk(state, textOf(update.content), update.messageId ?? undefined, at);
    case "agent_thought_chunk":
      return thoughtChunk(state, textOf(update.content), update.messageId ?? undefined, at);
    case "user_message_chunk":
      return userChunk(state, update.content, update.messageId ?? undefined);
    case "tool_call":
    case "tool_call_update":
      return changeCard(state, update, at);
    case "plan":
      return withPlan(state, update.entries, at);
    case "usage_update":
      return withUsage(state, update);
    default:
      return applyAbout(state, update);
  }
}

type Spoken = "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk" | "tool_call" | "tool_call_update";
type Told = Extract<SessionUpdate, { sessionUpdate: Spoken | "plan" | "usage_update" }>;

/** Updates about the session rather than of its conversation. */
function applyAbout(state: SessionState, update: Exclude<SessionUpdate, Told>): SessionState {
  switch (update.sessionUpdate) {
    case "available_commands_update":
      return {
        ...state,
        commands: update.availableCommands.map((command) => ({
          name: command.name,
          description: command.description,
          hint: command.input?.hint ?? "",
        })),
      };
    case "current_mode_update":
      return withMode(state, update.currentModeId);
    case "config_option_update":
      return withOptions(state, update.configOptions);
    case "session_info_update":
      return update.title ? { ...state, title: update.title } : state;
    case "notice":
      return withNotice(state, severity(update.severity), [update.title, update.description ?? ""]);
    case "compaction_update":
      return update.status === "completed"
        ? withNotice(state, "info", ["Older parts of the conversation were summarised."])
        : state;
    default:
      return state;
  }
}

/** The session with a line of the agent's or the editor's own. */
export function withNotice(
  state: SessionState,
  level: NoticeEntry["severity"],
  lines: readonly string[],
): SessionState {
  return append(state, { kind: "notice", severity: level, text: lines.filter(Boolean).join("\n") });
}

/** A plan replaces the one of the same turn; a new turn's plan is a new card. */
function withPlan(
  state: SessionState,
  entries: readonly { content: string; status: "pending" | "in_progress" | "completed" }[],
  at: number,
): SessionState {
  const steps = entries.map((entry) => ({ text: entry.content, status: entry.status }));
  const asked = lastIndex(state, (entry) => entry.kind === "user");
  const index = lastIndex(state, (entry) => entry.kind === "plan");
  const known = state.entries[index];
  if (known && index > asked) return replaceAt(state, index, { kind: "plan", id: known.id, steps });
  return steps.length ? append(endThought(state, at), { kind: "plan", steps }) : state;
}

function withUsage(
  state: SessionState,
  update: { used: number; size: number; cost?: { amount: number; currency: string } | null },
): SessionState {
  const cost = update.cost ?? state.usage?.cost;
  const shown = cost ? { cost: { amount: cost.amount, currency: cost.currency } } : {};
  return { ...state, usage: { used: update.used, size: update.size, ...shown } };
}

function severity(given: string): NoticeEntry["severity"] {
  return given === "warning" || given === "error" ? given : "info";
}
