import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launchOf, Model, Stage } from "../support/agent.ts";
import { launchBrowser } from "../support/browser.ts";
import { chatIn, type Editor, openChat, openEditor, picture, runCommand, startEditor } from "../support/codeServer.ts";
import { onDisk, openFile, send, SLOW } from "./person.ts";

const ADD = "def add(a, b):\n    return a - b\n";
const ADDED = "def add(a, b):\n    return a + b\n";
const ANSWER = "The sum was a difference. Now it adds:\n\n```python\ndef add(a, b):\n    return a + b\n```\n";

let browser: Browser;
let model: Model;
let stage: Stage;
let editor: Editor;

before(async () => {
  [browser, model, stage] = await Promise.all([launchBrowser(), Model.start(), Stage.set({ "sum.py": ADD, "README.md": "# Sums\n" })]);
  editor = await startEditor(stage, launchOf(stage, model.url));
});

after(async () => {
  editor.stop();
  model.stop();
  await browser.close();
  stage.clear();
});

test("prompt, stream, diff, approve, changed on the disk and in the buffer, undo, stop, reload, history, load", { timeout: 600_000 }, async (t) => {
  const page = await openEditor(browser, editor);
  t.after(() => picture(page, "last"));
  await openFile(page, "sum.py");
  const chat = await openChat(page);
  await chat.getByLabel("Mode", { exact: true }).waitFor({ timeout: SLOW });
  await picture(page, "1-start");

  await model.say(
    { text: "I look at it. ", reasoning: "The sign is wrong.", calls: [{ name: "read_file", arguments: { path: "sum.py" } }] },
    { text: "It subtracts. ", calls: [{ name: "patch", arguments: { path: "sum.py", old_text: "a - b", new_text: "a + b" } }] },
    { text: ANSWER, token_delay: 0.02 },
  );
  await send(chat, "Why is add wrong? Correct @sum.py please.");
  const allow = chat.getByRole("button", { name: "Allow once" });
  await allow.waitFor({ timeout: SLOW });
  await picture(page, "2-diff-inline");
  await chat.getByRole("button", { name: "Open Diff of sum.py" }).click();
  await page.locator(".tab", { hasText: "proposed by the agent" }).waitFor({ timeout: SLOW });
  await page.getByText("a + b").first().waitFor({ timeout: SLOW });
  await picture(page, "3-diff-native");
  assert.equal(await stage.read("sum.py"), ADD);

  await page.locator(".editor-actions").getByRole("button", { name: "Allow This Edit" }).click();
  await onDisk(stage, "sum.py", ADDED);
  await chat.getByText("Now it adds").waitFor({ timeout: SLOW });
  await chat.getByRole("button", { name: "Copy the code" }).waitFor({ timeout: SLOW });
  await page.locator(".tab", { hasText: "proposed by the agent" }).waitFor({ state: "detached", timeout: SLOW });
  await openFile(page, "sum.py");
  await page.locator(".view-line", { hasText: "return a + b" }).waitFor({ timeout: SLOW });
  await picture(page, "4-changed");

  await page.locator(".view-line", { hasText: "return" }).click();
  await page.keyboard.press("Control+Z");
  await page.locator(".view-line", { hasText: "return a - b" }).waitFor({ timeout: SLOW });
  await page.keyboard.press("Control+Shift+Z");
  await page.locator(".view-line", { hasText: "return a + b" }).waitFor({ timeout: SLOW });
  await page.keyboard.press("Control+S");
  await chat.getByRole("button", { name: "Undo Turn" }).click();
  await onDisk(stage, "sum.py", ADD);
  await page.locator(".view-line", { hasText: "return a - b" }).waitFor({ timeout: SLOW });

  await model.say({ text: "word ".repeat(2000), token_delay: 0.05 });
  await send(chat, "Tell me a long story.");
  await chat.getByText("word word word").first().waitFor({ timeout: SLOW });
  await chat.getByRole("button", { name: "Stop" }).click();
  await chat.getByText("Stopped.").waitFor({ timeout: SLOW });
  await picture(page, "5-stopped");

  await page.reload();
  await page.locator(".monaco-workbench").waitFor({ timeout: SLOW });
  const again = await chatIn(page);
  await again.locator(".said", { hasText: "Why is add wrong?" }).waitFor({ timeout: SLOW });
  await again.getByText("Now it adds").waitFor({ timeout: SLOW });

  await again.getByRole("button", { name: "Close this session" }).click();
  await again.getByText("Now it adds").waitFor({ state: "detached", timeout: SLOW });
  await runCommand(page, "Hermes ACP: Session History");
  const past = again.getByRole("dialog", { name: "Session history" }).locator("button.load").first();
  await past.waitFor({ timeout: SLOW });
  await picture(page, "6-history");
  await past.click();
  await again.getByText("Now it adds").waitFor({ timeout: SLOW });
  await picture(page, "7-loaded");
});
