import assert from "node:assert/strict";
import { test } from "node:test";
import { changedPart } from "../../../src/editor/changedPart.ts";

function applied(before: string, after: string): string {
  const part = changedPart(before, after);
  return part ? before.slice(0, part.start) + part.text + before.slice(part.end) : before;
}

test("the part that differs is all that is replaced", () => {
  assert.deepEqual(changedPart("abcdef", "abXdef"), { start: 2, end: 3, text: "X" });
  assert.equal(changedPart("same", "same"), undefined);
  assert.deepEqual(changedPart("aa", "aaa"), { start: 2, end: 2, text: "a" });
});

test("applied, it gives the new text, and never cuts a character or a line end of two", () => {
  const texts = ["", "a", "ab", "aab", "a\r\nb", "a\nb", "a\r\n\r\nb", "😀", "😁", "x😀y", "x😁y", "x😀😁y", "\r", "\r\n", "\n"];
  for (const before of texts) {
    for (const after of texts) {
      assert.equal(applied(before, after), after);
      const part = changedPart(before, after);
      for (const at of part ? [part.start, part.end] : []) {
        assert.ok(!/[\ud800-\udbff]$/.test(before.slice(0, at)), `${JSON.stringify(before)} cut at ${at}`);
      }
    }
  }
});
