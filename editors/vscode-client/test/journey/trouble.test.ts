import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { launchOf, Model, Stage } from "../support/agent.ts";
import { launchBrowser } from "../support/browser.ts";
import { openChat, openEditor, picture, startEditor } from "../support/codeServer.ts";
import { inPrompt, onDisk, openFile, send, SLOW } from "./person.ts";

const FILES = { "one.txt": "this is wrong\n" };

test("no command, not signed in, signed in by a terminal, crashed and going on", { timeout: 300_000 }, async (t) => {
  const [browser, model, stage] = await Promise.all([launchBrowser(), Model.start(), Stage.set(FILES)]);
  const launch = launchOf(stage);
  const editor = await startEditor(stage, { ...launch, command: "/no/such/agent" });
  const page = await openEditor(browser, editor);
  t.after(async () => { await picture(page, "trouble-last"); editor.stop(); model.stop(); await browser.close(); stage.clear(); });

  const chat = await openChat(page);
  const problem = chat.getByRole("alert", { name: "Problem" });
  await problem.getByText('"/no/such/agent" was not found').waitFor({ timeout: SLOW });
  await picture(page, "12-missing");
  await problem.getByRole("button", { name: "Open the Settings" }).click();
  const setting = page.locator(".settings-editor .setting-item-contents", { hasText: "The command that starts the agent" }).getByRole("textbox");
  await setting.fill(launch.command, { timeout: SLOW });
  await page.keyboard.press("Tab");
  await problem.getByText("Not signed in").waitFor({ timeout: SLOW });
  await closeSettings(page);
  await picture(page, "13-signed-out");
  await problem.getByRole("button", { name: "Set up in a terminal" }).click();
  const terminal = page.locator(".integrated-terminal .xterm-rows").first();
  const answers = [
    ["Provider", "custom"], ["Base URL", model.url], ["API \\[", ""], ["API key", "sk-test-0123456789"], ["Model", "fake-model"], ["Try it", "no"],
  ] as const;
  for (const [question, answer] of answers) {
    await terminal.locator("div", { hasText: new RegExp(`^${question}`) }).first().waitFor({ timeout: SLOW });
    await page.keyboard.type(answer);
    await picture(page, "14-terminal");
    await page.keyboard.press("Enter");
  }
  await problem.waitFor({ state: "detached", timeout: SLOW });
  await chat.getByLabel("Mode", { exact: true }).waitFor({ timeout: SLOW });
  await model.say({ text: "Now the edit. ", calls: [{ name: "patch", arguments: { path: "one.txt", old_text: "wrong", new_text: "right" } }] }, "Done.", "I am here again.");
  await send(chat, "Correct it.");
  await chat.getByRole("button", { name: "Allow once" }).click({ timeout: SLOW });
  await chat.getByText("Done.", { exact: true }).waitFor({ timeout: SLOW });
  await onDisk(stage, "one.txt", "this is right\n");

  for (const pid of await agentsOf(stage)) process.kill(pid, "SIGKILL");
  await chat.getByText("It was started again.").waitFor({ timeout: SLOW });
  await picture(page, "15-crashed");
  await send(chat, "Are you there?");
  await chat.getByText("I am here again.").waitFor({ timeout: SLOW });
  assert.match(await model.lastRequest(), /Correct it\.[\s\S]*Are you there\?/);
});

test("in a folder that is not trusted nothing is started, until it is", { timeout: 300_000 }, async (t) => {
  const [browser, model, stage] = await Promise.all([launchBrowser(), Model.start(), Stage.set(FILES)]);
  const settings = { "security.workspace.trust.startupPrompt": "never", "security.workspace.trust.banner": "never" };
  const editor = await startEditor(stage, launchOf(stage, model.url), { settings, asksForTrust: true });
  const page = await openEditor(browser, editor);
  t.after(async () => { await picture(page, "trust-last"); editor.stop(); model.stop(); await browser.close(); stage.clear(); });

  const chat = await openChat(page);
  const problem = chat.getByRole("alert", { name: "Problem" });
  await problem.getByText("This workspace is not trusted").waitFor({ timeout: SLOW });
  await send(chat, "Begin anyway.");
  await inPrompt(chat, "Begin anyway.");
  await chat.getByRole("button", { name: "Send", exact: true }).waitFor();
  assert.deepEqual(await agentsOf(stage), []);
  await picture(page, "16-untrusted");

  await problem.getByRole("button", { name: "Manage Trust" }).click();
  await page.locator(".workspace-trust-editor").getByRole("button", { name: "Trust", exact: true }).click({ timeout: SLOW });
  await problem.waitFor({ state: "detached", timeout: SLOW });
  await model.say("I have begun.");
  await openFile(page, "one.txt");
  await send(chat, "Now.");
  await chat.getByText("I have begun.").waitFor({ timeout: SLOW });
});

/** Escape leaves the control first, then the search, then the page. */
async function closeSettings(page: Page): Promise<void> {
  const settings = page.locator(".settings-editor");
  await settings.locator(".settings-header input, .settings-header textarea, .settings-header .monaco-editor").first().click();
  for (let tries = 0; tries < 20 && (await settings.count()); tries += 1) {
    await page.keyboard.press("Escape");
    await page.waitForTimeout(500);
  }
  await settings.waitFor({ state: "detached" });
}

/** The agents that run for this stage. */
async function agentsOf(stage: Stage): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => ((await isAgentOf(stage, pid)) ? [pid] : [])));
  return found.flat();
}

async function isAgentOf(stage: Stage, pid: number): Promise<boolean> {
  const of = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
  return (await of("cmdline")).includes("hermes_acp\0--stdio") && (await of("environ")).includes(`HERMES_ACP_HOME=${stage.home}`);
}
