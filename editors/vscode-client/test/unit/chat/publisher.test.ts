import assert from "node:assert/strict";
import { test } from "node:test";
import { changeView } from "../../../src/chat/changes.ts";
import { readMessage } from "../../../src/chat/incoming.ts";
import { patchesBetween } from "../../../src/chat/publisher.ts";
import { emptySession } from "../../../src/state/model.ts";
import { agentChunk } from "../../../src/state/chunks.ts";

test("an answer that grows is told by what was added", () => {
  const one = agentChunk(emptySession("s", "/p"), "Hel", undefined, 0);
  const two = agentChunk(one, "lo", undefined, 0);
  assert.deepEqual(patchesBetween(one.entries, two.entries, "/p"), [{ op: "grow", id: "e1", text: "lo" }]);
  assert.deepEqual(patchesBetween(two.entries, two.entries, "/p"), []);
  assert.equal(patchesBetween([], two.entries, "/p")[0]?.op, "put");
});

test("entries that were let go are dropped", () => {
  const state = agentChunk(agentChunk(emptySession("s", "/p"), "a", "1", 0), "b", "2", 0);
  assert.deepEqual(patchesBetween(state.entries, state.entries.slice(1), "/p"), [{ op: "drop", before: "e2" }]);
});

test("a change is shown by its hunks, with a short path below the folder", () => {
  const view = changeView({ path: "/p/src/a.ts", oldText: "a\nb\nc\n", newText: "a\nB\nc\n" }, "/p");
  assert.equal(view.shown, "src/a.ts");
  assert.deepEqual([view.added, view.removed, view.isNew], [1, 1, false]);
  assert.deepEqual(view.hunks[0]?.lines, [" a", "-b", "+B", " c"]);
  assert.equal(changeView({ path: "/q/a.ts", oldText: null, newText: "x" }, "/p").shown, "/q/a.ts");
});

test("a diff of 5,000 lines, all changed, is made within the pace of a keystroke", () => {
  const lines = (word: string): string => Array.from({ length: 5000 }, (_, at) => `${word} ${at}`).join("\n");
  const began = performance.now();
  const view = changeView({ path: "/p/a", oldText: lines("old"), newText: lines("new") }, "/p");
  assert.deepEqual([view.added, view.removed], [5000, 5000]);
  assert.ok(performance.now() - began < 300);
});

test("messages of the webview are checked", () => {
  assert.deepEqual(readMessage({ type: "answer", question: "q1", option: "a", more: 1 }), { type: "answer", question: "q1", option: "a" });
  assert.deepEqual(readMessage({ type: "history" }), { type: "history" });
  for (const bad of [undefined, null, "send", {}, { type: "run" }, { type: "answer", question: 1, option: "a" }, { type: "send", text: "x", images: [{ mimeType: "image/svg+xml", data: "" }], selection: false }]) {
    assert.equal(readMessage(bad), undefined);
  }
});
