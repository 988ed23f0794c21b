import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { MOST_ENTRIES } from "../../../src/state/entries.ts";
import { type Card, emptySession, type SessionState } from "../../../src/state/model.ts";
import { beginTurn, endTurn } from "../../../src/state/turns.ts";
import { applyUpdate } from "../../../src/state/update.ts";

const SAID = { text: "Hello", pictures: [], links: [] };

function after(state: SessionState, ...updates: readonly SessionUpdate[]): SessionState {
  return updates.reduce((now, update, at) => applyUpdate(now, update, 1000 * (at + 1)), state);
}

function chunk(kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk", text: string, messageId?: string): SessionUpdate {
  return { sessionUpdate: kind, content: { type: "text", text }, ...(messageId === undefined ? {} : { messageId }) };
}

const running = beginTurn(emptySession("s", "/p"), SAID);

test("chunks of one message grow one entry; another message begins another", () => {
  const state = after(running, chunk("agent_message_chunk", "a", "1"), chunk("agent_message_chunk", "b", "1"), chunk("agent_message_chunk", "c", "2"));
  assert.deepEqual(state.entries.slice(1).map((entry) => entry.kind === "agent" && entry.text), ["ab", "c"]);
});

test("a thought has its time when something else begins, and none in a replay", () => {
  const live = after(running, chunk("agent_thought_chunk", "hm"), chunk("agent_message_chunk", "so"));
  assert.deepEqual(live.entries[1], { kind: "thought", id: "e2", text: "hm", began: 1000, ended: 2000 });
  const replayed = after(emptySession("s", "/p"), chunk("agent_thought_chunk", "hm"), chunk("agent_message_chunk", "so"));
  assert.deepEqual(replayed.entries[0], { kind: "thought", id: "e1", text: "hm" });
});

test("the person's own words are taken from a replay, and not twice while a turn runs", () => {
  assert.equal(after(running, chunk("user_message_chunk", "Hello")).entries.length, 1);
  const replayed = after(
    { ...emptySession("s", "/p"), phase: "loading" },
    chunk("user_message_chunk", "Look at "),
    { sessionUpdate: "user_message_chunk", content: { type: "resource_link", name: "a.ts", uri: "file:///a.ts" } },
  );
  assert.deepEqual(replayed.entries, [{ kind: "user", id: "e1", text: "Look at ", pictures: [], links: [{ name: "a.ts", uri: "file:///a.ts" }] }]);
});

test("a card is changed by what an update names, and keeps the rest", () => {
  const state = after(
    running,
    { sessionUpdate: "tool_call", toolCallId: "c", title: "Run tests", kind: "execute", status: "pending", rawInput: { command: "make test" } },
    { sessionUpdate: "tool_call_update", toolCallId: "c", status: "in_progress", content: [{ type: "content", content: { type: "text", text: "ok" } }] },
    { sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed", locations: [{ path: "/p/a.ts", line: 3 }] },
  );
  const card = state.entries[1] as Card;
  assert.deepEqual([card.title, card.tool, card.status, card.command], ["Run tests", "execute", "completed", "make test"]);
  assert.deepEqual(card.parts, [{ kind: "text", text: "ok" }]);
  assert.deepEqual(card.places, [{ path: "/p/a.ts", line: 3 }]);
});

test("an update of a call that was never begun makes its card", () => {
  const state = after(running, { sessionUpdate: "tool_call_update", toolCallId: "x", status: "completed" });
  assert.equal((state.entries[1] as Card).status, "completed");
});

test("a plan is one card a turn", () => {
  const plan = (content: string): SessionUpdate => ({ sessionUpdate: "plan", entries: [{ content, priority: "high", status: "pending" }] });
  const once = after(running, plan("one"), chunk("agent_message_chunk", "x"), plan("two"));
  assert.deepEqual(once.entries.map((entry) => entry.kind), ["user", "plan", "agent"]);
  const again = after(beginTurn(once, SAID), plan("three"));
  assert.deepEqual(again.entries.map((entry) => entry.kind), ["user", "plan", "agent", "user", "plan"]);
});

test("usage keeps the cost that an update does not repeat", () => {
  const state = after(
    running,
    { sessionUpdate: "usage_update", used: 1, size: 10, cost: { amount: 0.5, currency: "USD" } },
    { sessionUpdate: "usage_update", used: 2, size: 10 },
  );
  assert.deepEqual(state.usage, { used: 2, size: 10, cost: { amount: 0.5, currency: "USD" } });
});

test("commands, options, titles and modes are taken over; what is unknown changes nothing", () => {
  const state = after(
    running,
    { sessionUpdate: "available_commands_update", availableCommands: [{ name: "undo", description: "Back", input: null }] },
    { sessionUpdate: "session_info_update", title: "A title" },
    {
      sessionUpdate: "config_option_update",
      configOptions: [{ type: "select", id: "m", name: "Mode", category: "mode", currentValue: "ask", options: [{ value: "ask", name: "Ask" }] }],
    },
    { sessionUpdate: "current_mode_update", currentModeId: "plan" },
  );
  assert.equal(state.title, "A title");
  assert.equal(state.commands[0]?.name, "undo");
  assert.equal(state.options[0]?.value, "plan");
  assert.equal(after(state, { sessionUpdate: "of_the_future" } as unknown as SessionUpdate), state);
});

test("a turn that was stopped leaves no card running", () => {
  const state = after(running, { sessionUpdate: "tool_call", toolCallId: "c", title: "x", status: "in_progress" });
  const ended = endTurn(state, "cancelled", 5);
  assert.equal(ended.phase, "idle");
  assert.equal((ended.entries[1] as Card).status, "failed");
});

test("memory is bounded: the oldest entries go, and their number is known", () => {
  let state = emptySession("s", "/p");
  for (let at = 0; at < MOST_ENTRIES + 10; at += 1) state = applyUpdate(state, chunk("agent_message_chunk", "x", String(at)), at);
  assert.equal(state.entries.length, MOST_ENTRIES);
  assert.equal(state.dropped, 10);
});

test("a huge output is kept by its end", () => {
  const text = `${"x".repeat(300_000)}end`;
  const state = after(running, { sessionUpdate: "tool_call", toolCallId: "c", title: "x", content: [{ type: "content", content: { type: "text", text } }] });
  const [part] = (state.entries[1] as Card).parts;
  assert.ok(part?.kind === "text" && part.text.length < 210_000 && part.text.endsWith("end"));
});
