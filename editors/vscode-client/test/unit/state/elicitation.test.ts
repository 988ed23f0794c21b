import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, hostOf, known, problems } from "../../../src/state/elicitation.ts";

const FIELDS = fieldsOf({
  type: "object",
  required: ["name", "count"],
  properties: {
    name: { type: "string", title: "Name", minLength: 2, maxLength: 5 },
    site: { type: "string", format: "uri" },
    count: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    fast: { type: "boolean", default: true },
    colour: { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] },
    size: { type: "string", enum: ["s", "m"] },
    parts: { type: "array", items: { anyOf: [{ const: "a", title: "A" }, { const: "b", title: "B" }] }, minItems: 1, maxItems: 1 },
    odd: { type: "of the future" },
  },
});

test("each kind of property becomes its field", () => {
  assert.deepEqual(FIELDS.map(({ name, type, required }) => [name, type, required]), [
    ["name", "text", true],
    ["site", "text", false],
    ["count", "number", true],
    ["fast", "boolean", false],
    ["colour", "choice", false],
    ["size", "choice", false],
    ["parts", "choices", false],
    ["odd", "text", false],
  ]);
});

test("values are checked before they are sent", () => {
  assert.deepEqual(Object.keys(problems(FIELDS, {})), ["name", "count"]);
  assert.deepEqual(problems(FIELDS, { name: "ann", count: 2, fast: false, colour: "r", size: "m", parts: ["a"] }), {});
  const wrong = { name: "a", site: "no address", count: 2.5, colour: "x", size: "xl", parts: ["a", "b"] };
  assert.deepEqual(Object.keys(problems(FIELDS, wrong)), Object.keys(wrong));
});

test("only what belongs to a field is sent", () => {
  assert.deepEqual(known(FIELDS, { name: "ann", more: "x", site: "" }), { name: "ann" });
});

test("the host of an address is what a browser would go to; other schemes have none", () => {
  assert.equal(hostOf("https://bank.example@evil.example/bank.example"), "evil.example");
  assert.equal(hostOf("https://аpple.com/"), "xn--pple-43d.com");
  for (const address of ["command:workbench.action.quit", "file:///etc/passwd", "javascript:alert(1)", "vscode://x", "no address"]) {
    assert.equal(hostOf(address), "");
  }
});
