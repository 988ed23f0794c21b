import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, FrameLocator, Locator, Page } from "playwright-core";
import { launchOf, Model, Stage } from "../support/agent.ts";
import { launchBrowser } from "../support/browser.ts";
import { type Editor, openChat, openEditor, picture, runCommand, startEditor } from "../support/codeServer.ts";
import { inPrompt, openFile, send, SLOW } from "./person.ts";

const FILES = { "notes.txt": "first line\nsecond line\n", "broken.json": '{"a": }\n', "target.py": "x = 1\n", "one.txt": "this is wrong\n" };
const EDIT = { name: "patch", arguments: { path: "one.txt", old_text: "wrong", new_text: "right" } };
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let browser: Browser;
let model: Model;
let stage: Stage;
let editor: Editor;
let page: Page;
let chat: FrameLocator;

before(async () => {
  [browser, model, stage] = await Promise.all([launchBrowser(), Model.start(), Stage.set(FILES)]);
  editor = await startEditor(stage, launchOf(stage, model.url));
  page = await openEditor(browser, editor);
  chat = await openChat(page);
  await chat.getByLabel("Mode", { exact: true }).waitFor({ timeout: SLOW });
});

after(async () => {
  await picture(page, "work-last");
  editor.stop();
  model.stop();
  await browser.close();
  stage.clear();
});

const shown = (text: string): Promise<void> => chat.getByText(text).last().waitFor({ timeout: SLOW });
const viewLine = (text: string): Locator => page.locator(".view-line", { hasText: text }).first();
const idle = (): Promise<void> => chat.getByRole("button", { name: "Send", exact: true }).waitFor({ timeout: SLOW });
const toast = (text: string): Locator => page.locator(".notification-toast", { hasText: text });

/** Opens the light bulb of the next problem; on a busy machine its list may close again before it is whole. */
async function pressInLightBulb(title: string): Promise<void> {
  const entry = page.locator(".action-widget").getByText(title);
  for (let tries = 0; tries < 12 && !(await entry.isVisible()); tries += 1) {
    await page.keyboard.press("Escape");
    await viewLine('"a"').click();
    await page.keyboard.press("F8");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+.");
    await entry.waitFor({ timeout: 4000 }).catch(() => undefined);
  }
  await entry.click({ timeout: SLOW });
}

test("the selection goes along by its key, and a file is read as it stands in the editor", { timeout: 120_000 }, async () => {
  await openFile(page, "notes.txt");
  await viewLine("first line").click();
  await page.keyboard.press("Home");
  await page.keyboard.type("unsaved ");
  await page.keyboard.press("Shift+End");
  await page.keyboard.press("Control+Alt+H");
  await chat.getByRole("button", { name: "Remove notes.txt:1-1" }).waitFor({ timeout: SLOW });
  await model.say({ calls: [{ name: "read_file", arguments: { path: "notes.txt" } }] }, "I have read it.");
  await page.keyboard.type("Read this.");
  await page.keyboard.press("Enter");
  await shown("I have read it.");
  const [first, last] = (await model.requests()).map((body) => JSON.stringify(body));
  assert.match(first ?? "", /notes\.txt#L1-L1[\s\S]*first line/);
  assert.match(last ?? "", /unsaved first line/);
  assert.equal(await stage.read("notes.txt"), FILES["notes.txt"]);
  await idle();
});

test("a problem is sent from its light bulb", { timeout: 120_000 }, async () => {
  await openFile(page, "broken.json");
  await page.locator(".squiggly-error").first().waitFor({ timeout: SLOW });
  await pressInLightBulb("Send to Hermes: Value expected");
  await chat.getByRole("button", { name: /^Remove broken\.json:1 Value expected/ }).waitFor({ timeout: SLOW });
  await picture(page, "8-problem");
  await model.say("A value is missing.");
  await send(chat, "What is it?");
  await shown("A value is missing.");
  assert.match(await model.lastRequest(), /broken\.json:1: error: Value expected/);
  await idle();
});

test("code is put in at the caret, and undo takes it out", { timeout: 120_000 }, async () => {
  await openFile(page, "target.py");
  await viewLine("x = 1").click();
  await page.keyboard.press("Control+End");
  await model.say("Here:\n\n```python\ny = 2\n```\n");
  await send(chat, "Give me y.");
  await idle();
  await chat.getByRole("button", { name: "Insert the code at the cursor" }).click();
  await viewLine("y = 2").waitFor({ timeout: SLOW });
  assert.equal(await stage.read("target.py"), "x = 1\n");
  await viewLine("x = 1").click();
  await page.keyboard.press("Control+Z");
  await viewLine("y = 2").waitFor({ state: "detached", timeout: SLOW });
});

test("a rejection with a comment: the file stays, and the agent is told why", { timeout: 120_000 }, async () => {
  await model.say({ calls: [EDIT] }, "As you wish.", "Then without it.");
  await send(chat, "Correct one.txt.");
  await chat.getByRole("textbox", { name: "Reject with a comment" }).fill("Wrong is right here.");
  await chat.getByRole("textbox", { name: "Reject with a comment" }).press("Enter");
  await shown("Then without it.");
  assert.match(await model.lastRequest(), /Wrong is right here\./);
  assert.equal(await stage.read("one.txt"), FILES["one.txt"]);
  await idle();
});

test("the cross in the title of a diff rejects its file", { timeout: 120_000 }, async () => {
  await model.say({ calls: [EDIT] }, "It stays.");
  await send(chat, "Correct one.txt, please.");
  await chat.getByRole("button", { name: "Open Diff of one.txt" }).last().click({ timeout: SLOW });
  await page.locator(".editor-actions").getByRole("button", { name: "Reject This Edit" }).click({ timeout: SLOW });
  await shown("It stays.");
  await page.locator(".tab", { hasText: "proposed by the agent" }).waitFor({ state: "detached", timeout: SLOW });
  assert.equal(await stage.read("one.txt"), FILES["one.txt"]);
  await idle();
});

test("prompts wait while a turn runs, and one is taken back into the prompt", { timeout: 120_000 }, async () => {
  await model.say({ text: "slow ".repeat(40), token_delay: 0.1 }, "The third is answered.");
  await send(chat, "one");
  await shown("slow slow");
  await send(chat, "two");
  await send(chat, "three");
  const waiting = chat.getByRole("list", { name: "Prompts that wait" });
  await waiting.getByText("three").waitFor({ timeout: SLOW });
  assert.deepEqual(await waiting.getByRole("listitem").locator("span").allTextContents(), ["two", "three"]);
  await picture(page, "9-queue");
  await chat.getByRole("button", { name: "Take back: two" }).click();
  await inPrompt(chat, "two");
  await chat.getByRole("textbox", { name: "Prompt" }).fill("");
  await shown("The third is answered.");
  await waiting.waitFor({ state: "detached", timeout: SLOW });
  await idle();
});

test("images are pasted and dropped, and the model sees them", { timeout: 120_000 }, async () => {
  const prompt = chat.getByRole("textbox", { name: "Prompt" });
  for (const kind of ["paste", "drop"]) {
    await prompt.evaluate((element, [name, base64]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(base64 ?? ""), (each) => each.charCodeAt(0))], "a.png", { type: "image/png" }));
      const event = name === "paste" ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true }) : new DragEvent("drop", { dataTransfer: data, bubbles: true });
      element.dispatchEvent(event);
    }, [kind, PIXEL]);
  }
  await chat.getByRole("img", { name: "Image 2" }).waitFor();
  await model.say("Two pixels.");
  await send(chat, "What do you see?");
  await shown("Two pixels.");
  assert.equal((await model.lastRequest()).split(`data:image/png;base64,${PIXEL.slice(0, 20)}`).length - 1, 2);
  await idle();
});

test("sessions side by side: one works while another asks", { timeout: 120_000 }, async () => {
  await model.say({ text: "long ".repeat(100), token_delay: 0.1 });
  await send(chat, "Tell me something long.");
  await shown("long long");
  await runCommand(page, "Hermes ACP: New Session");
  await chat.getByRole("tab", { name: "New session" }).waitFor({ timeout: SLOW });
  await model.say({ calls: [EDIT] }, "Done here.");
  await send(chat, "Now correct one.txt.");
  await chat.getByRole("button", { name: "Allow once" }).waitFor({ timeout: SLOW });
  await chat.getByRole("tab", { name: /, running$/ }).waitFor();
  await picture(page, "10-side-by-side");
  await chat.getByRole("tab", { name: /, running$/ }).click();
  await chat.getByRole("tab", { name: /^Now correct one\.txt\., asks$/ }).waitFor();
  await chat.getByRole("button", { name: "Stop" }).click();
  await shown("Stopped.");
  await chat.getByRole("tab", { name: /, asks$/ }).click();
  await chat.getByRole("button", { name: "Reject", exact: true }).click();
  await shown("Done here.");
  assert.equal(await stage.read("one.txt"), FILES["one.txt"]);
  await idle();
});

test("who looks elsewhere is told that a turn has ended, and that the agent asks", { timeout: 120_000 }, async () => {
  await model.say({ text: "thinking ".repeat(20), token_delay: 0.1 });
  await send(chat, "Take your time.");
  await shown("thinking thinking");
  await page.keyboard.press("Control+Shift+E");
  await toast("The turn has ended").waitFor({ timeout: SLOW });
  await picture(page, "11-notice");
  await toast("The turn has ended").getByRole("button", { name: "Show" }).click();
  await chat.getByRole("textbox", { name: "Prompt" }).waitFor({ timeout: SLOW });

  // The chat is in sight and the focus in the editor, but the window has lost the focus to another one.
  await model.say({ text: "thinking ".repeat(20), token_delay: 0.1, calls: [EDIT] }, "Good.");
  await send(chat, "And now correct it.");
  await viewLine("x = 1").click();
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setFocusEmulationEnabled", { enabled: false });
  const other = await page.context().newPage();
  await other.bringToFront();
  await chat.getByRole("button", { name: "Allow once" }).waitFor({ timeout: SLOW });
  await other.close();
  await page.bringToFront();
  await toast("The agent asks you something").waitFor({ timeout: SLOW });
  await chat.getByRole("button", { name: "Reject", exact: true }).click();
  await shown("Good.");
});
