/** What a person does in the editor, and how long it may take. */

import assert from "node:assert/strict";
import type { FrameLocator, Page } from "playwright-core";
import type { Stage } from "../support/agent.ts";

export const SLOW = 60_000;

/** Writes a prompt and sends it by its key. */
export async function send(chat: FrameLocator, text: string): Promise<void> {
  await chat.getByRole("textbox", { name: "Prompt" }).fill(text);
  await chat.getByRole("textbox", { name: "Prompt" }).press("Enter");
}

/** Waits until a text stands in the prompt. */
export async function inPrompt(chat: FrameLocator, text: string): Promise<void> {
  const deadline = Date.now() + SLOW;
  const prompt = chat.getByRole("textbox", { name: "Prompt" });
  while ((await prompt.inputValue()) !== text) {
    assert.ok(Date.now() < deadline, `In the prompt stands: ${await prompt.inputValue()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Opens a file by its name, and puts the caret at its beginning. */
export async function openFile(page: Page, name: string): Promise<void> {
  await page.keyboard.press("Control+P");
  await page.locator(".quick-input-widget input[type=text]").fill(name);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator(`.tab[data-resource-name="${name}"]`).first().waitFor();
}

/** Waits until a file of the project holds a text. */
export async function onDisk(stage: Stage, name: string, text: string): Promise<void> {
  const deadline = Date.now() + SLOW;
  while ((await stage.read(name)) !== text) {
    assert.ok(Date.now() < deadline, `On the disk stands: ${await stage.read(name)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
