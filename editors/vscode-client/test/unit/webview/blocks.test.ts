import assert from "node:assert/strict";
import { test } from "node:test";
import { split } from "../../../webview/pure/blocks.ts";

const TEXT = "# Title\n\nOne\ntwo.\n\n- a\n\n- b\n\n  more\n\nNext.\n\n```js\n\ncode\n\n```\n\nEnd.\n\nOpen";

test("pieces are cut only where a block begins, never in a list or fence", () => {
  assert.deepEqual(split(TEXT), {
    closed: ["# Title\n\n", "One\ntwo.\n\n- a\n\n- b\n\n  more\n\n", "Next.\n\n", "```js\n\ncode\n\n```\n\n"],
    open: "End.\n\nOpen",
  });
});

test("text that comes a character at a time is cut in the same places", () => {
  const pieces: string[] = [];
  let tail = "";
  for (const character of TEXT) {
    const { closed, open } = split(tail + character);
    pieces.push(...closed);
    tail = open;
  }
  assert.deepEqual(pieces, split(TEXT).closed);
});

test("nothing is lost, and a fence that is not closed stays open", () => {
  const text = "a\n\n~~~~\nx\n\n~~~\n\ny\n\nz";
  const { closed, open } = split(text);
  assert.equal(closed.join("") + open, text);
  assert.equal(open, "~~~~\nx\n\n~~~\n\ny\n\nz");
});

test("a paragraph without end is cut at a line", () => {
  const { closed, open } = split("word word word\n".repeat(5000));
  assert.ok(closed.length > 2);
  assert.ok(open.length < 25_000);
});
