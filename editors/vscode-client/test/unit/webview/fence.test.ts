import assert from "node:assert/strict";
import { test } from "node:test";
import { unfenced } from "../../../webview/pure/fence.ts";

test("a text that is one fenced block is what stands in it", () => {
  assert.equal(unfenced("```\nok\n  two\n```"), "ok\n  two");
  assert.equal(unfenced("```sh\nmake\n```\n"), "make");
  assert.equal(unfenced("````\n```\ninner\n```\n````"), "```\ninner\n```");
  assert.equal(unfenced("```\n```"), "");
});

test("a text that is more than that is left alone", () => {
  for (const text of ["plain", "```\nopen", "```\na\n```\nand more", "```\na\n```\n```\nb\n```", "`x`", ""]) assert.equal(unfenced(text), undefined);
});
