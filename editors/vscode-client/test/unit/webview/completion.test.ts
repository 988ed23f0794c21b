import assert from "node:assert/strict";
import { test } from "node:test";
import { completed, typing } from "../../../webview/pure/completion.ts";

test("a command is completed only at the very beginning", () => {
  assert.deepEqual(typing("/com", 4), { kind: "command", query: "com", from: 0 });
  assert.equal(typing("see /com", 8), undefined);
  assert.equal(typing("/compact now", 12), undefined);
});

test("a file is completed behind an @ that begins a word", () => {
  assert.deepEqual(typing("look at @src/ma", 15), { kind: "file", query: "src/ma", from: 8 });
  assert.deepEqual(typing("@", 1), { kind: "file", query: "", from: 0 });
  assert.equal(typing("me@home", 7), undefined);
  assert.equal(typing("@done and more", 14), undefined);
});

test("what is taken stands in place of what was typed, and the caret behind it", () => {
  const at = typing("a @ma b", 5)!;
  assert.deepEqual(completed("a @ma b", 5, at, "src/main.ts"), { text: "a @src/main.ts b", caret: 15 });
  assert.deepEqual(completed("@x", 2, typing("@x", 2)!, "my file.ts").text, '@"my file.ts" ');
  assert.deepEqual(completed("/c", 2, typing("/c", 2)!, "compact").text, "/compact ");
});
