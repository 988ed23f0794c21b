import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { launchOf, Stage } from "../support/agent.ts";
import { launchBrowser } from "../support/browser.ts";
import { buildHostTests, openEditor, startEditor } from "../support/codeServer.ts";

test("within the extension host", { timeout: 300_000 }, async (t) => {
  const stage = await Stage.set({ ".vscode/settings.json": '{"hermes-acp.command": "/evil"}' });
  const [browser, tests] = await Promise.all([launchBrowser(), buildHostTests(stage)]);
  const editor = await startEditor(stage, launchOf(stage), { extensions: [tests] });
  t.after(async () => { editor.stop(); await browser.close(); stage.clear(); });
  await openEditor(browser, editor);
  const report = join(stage.root, "host-report.json");
  const deadline = Date.now() + 200_000;
  while (!existsSync(report)) {
    assert.ok(Date.now() < deadline, `There is no report:\n${editor.log()}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  for (const { name, error } of JSON.parse(await readFile(report, "utf8")) as { name: string; error: string }[]) {
    await t.test(name, () => { assert.equal(error, ""); });
  }
});
