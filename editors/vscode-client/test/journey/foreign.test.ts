import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Stage } from "../support/agent.ts";
import { launchBrowser } from "../support/browser.ts";
import { openChat, openEditor, picture, startEditor } from "../support/codeServer.ts";
import { onDisk, send, SLOW } from "./person.ts";

const AGENT = join(import.meta.dirname, "..", "support", "hostileAgent.mjs");
const LINKS = "[quit](command:workbench.action.closeWindow) [script](javascript:alert(1)) [other](vscode://x.y/z) <img src=x onerror=alert(1)>";
const OPTIONS = [{ optionId: "y", name: "Allow", kind: "allow_once" }, { optionId: "n", name: "Reject", kind: "reject_once" }];
const SCHEMA = { type: "object", required: ["colour"], properties: { colour: { type: "string", title: "Colour", enum: ["red", "green"] }, parts: { type: "array", title: "Parts", items: { type: "string", enum: ["a", "b"] } } } };

test("an agent that is not ours, and asks for too much: files one by one, a form, a terminal, and nothing without a question", { timeout: 300_000 }, async (t) => {
  const [browser, stage] = await Promise.all([launchBrowser(), Stage.set({ "a.txt": "a\n", "b.txt": "b\n" })]);
  const diff = (name: string): object => ({ type: "diff", path: stage.path(name), oldText: `${name[0] ?? ""}\n`, newText: "changed\n" });
  const wishes = [
    ["session/update", { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${LINKS}\n\n` } }],
    ["session/request_permission", { toolCall: { toolCallId: "c", title: "Edit two files", kind: "edit", content: [diff("a.txt"), diff("b.txt")] }, options: OPTIONS }],
    ["elicitation/create", { mode: "form", message: "Which one?", requestedSchema: SCHEMA }],
    ["terminal/create", { command: "sh", args: ["-c", "printf '\\033[32mgreen\\033[0m out'; exit 3"] }],
    ["terminal/wait_for_exit", { terminalId: "t1" }],
    ["fs/write_text_file", { path: stage.path("a.txt"), content: "written\n" }],
    ["fs/write_text_file", { path: join(stage.root, "outside.txt"), content: "bad\n" }],
  ];
  const launch = { command: process.execPath, args: [AGENT, JSON.stringify(wishes)], env: {}, cwd: stage.project };
  const editor = await startEditor(stage, launch);
  const page = await openEditor(browser, editor);
  t.after(async () => { await picture(page, "foreign-last"); editor.stop(); await browser.close(); stage.clear(); });
  const chat = await openChat(page);
  await chat.getByRole("tab", { name: "New session" }).waitFor({ timeout: SLOW });
  await send(chat, "Go.");

  for (const name of ["quit", "other"]) await chat.getByRole("link", { name }).click({ timeout: SLOW });
  await chat.getByRole("checkbox", { name: "Accept b.txt" }).uncheck();
  await picture(page, "17-by-file");
  await chat.getByRole("button", { name: "Allow", exact: true }).click();
  assert.equal(await chat.locator("body img").count(), 0);
  await page.locator(".monaco-workbench").waitFor();

  const form = chat.getByRole("region", { name: "Question: Form" });
  await form.getByLabel("Colour").selectOption("green", { timeout: SLOW });
  await form.getByLabel("b", { exact: true }).check();
  await picture(page, "18-form");
  await form.getByRole("button", { name: "Answer" }).click();
  await chat.getByText('"colour":"green","parts":["b"]').waitFor({ timeout: SLOW });

  const command = chat.getByRole("region", { name: "The exact command" });
  await command.waitFor({ timeout: SLOW });
  assert.equal(await command.textContent(), "sh -c 'printf '\\''\\033[32mgreen\\033[0m out'\\''; exit 3'");
  await chat.getByRole("button", { name: "Allow once" }).click();
  await chat.getByText('"exitCode":3').waitFor({ timeout: SLOW });
  await page.keyboard.press("Control+`");
  await page.locator(".integrated-terminal .xterm-rows").first().getByText("green out").waitFor({ timeout: SLOW });
  await picture(page, "19-terminal");

  await onDisk(stage, "a.txt", "written\n");
  await chat.locator(".title", { hasText: "The agent writes outside of the workspace" }).waitFor({ timeout: SLOW });
  await chat.getByRole("button", { name: "Reject", exact: true }).click();
  await chat.getByText("You said: Make the change to a.txt as proposed, but do not change b.txt.").waitFor({ timeout: SLOW });
  assert.equal(existsSync(join(stage.root, "outside.txt")), false);
  assert.equal(await stage.read("b.txt"), "b\n");
});
