import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText, spans } from "../../../webview/pure/ansi.ts";

test("colours become classes, and end where they are reset", () => {
  assert.deepEqual(spans("a\u001b[1;31mred\u001b[0m b"), [
    { classes: [], text: "a" },
    { classes: ["bold", "fg1"], text: "red" },
    { classes: [], text: " b" },
  ]);
});

test("256 and 16 million colours are colours of their own", () => {
  assert.equal(spans("\u001b[38;5;196mx")[0]?.color, "rgb(255, 0, 0)");
  assert.equal(spans("\u001b[48;2;1;2;3mx")[0]?.background, "rgb(1, 2, 3)");
  assert.equal(spans("\u001b[38;5;9mx")[0]?.color, "var(--ansi9)");
  assert.equal(spans("\u001b[38;2;999;NaN;-1mx")[0]?.color, undefined);
});

test("nothing that a terminal obeys is left: titles, links, cursor moves, half escapes, controls", () => {
  const hostile = "\u001b]0;title\u0007a\u001b]8;;command:evil\u001b\\link\u001b]8;;\u001b\\b\u001b[2J\u001b[10;10Hc\u0008\u0000\u009b1md\u001b[";
  assert.equal(plainText(hostile), "alinkbc1md");
});

test("a progress bar shows its last state", () => {
  assert.equal(plainText("10%\r50%\r100%\r\nnext"), "100%\nnext");
});

test("a line of a million characters is cut, and is quick", () => {
  const began = performance.now();
  assert.ok(plainText("x".repeat(1_000_000)).length < 6000);
  assert.ok(plainText("\u001b[".repeat(200_000)).length < 6000);
  assert.ok(performance.now() - began < 500);
});
