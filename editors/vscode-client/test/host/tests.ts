/** What only a real editor can show: buffers, undo, diffs, terminals, commands, settings. */

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";
import { Attachments } from "../../src/editor/attachments.ts";
import { closeDiffsOf, Diffs, SCHEME } from "../../src/editor/diffs.ts";
import { reading, writeThroughEditor } from "../../src/editor/files.ts";
import { findFiles, mentioned } from "../../src/editor/mentions.ts";
import { terminalScreen } from "../../src/editor/screen.ts";
import { launch } from "../../src/editor/settings.ts";

type HostTest = (root: string) => Promise<void>;

export const TESTS: Readonly<Record<string, HostTest>> = {
  "a read sees what is not saved yet": async (root) => {
    const path = await file(root, "read.txt", "on the disk\n");
    assert.equal(reading.buffer(path), undefined);
    const editor = await show(path);
    await editor.edit((edit) => { edit.insert(new vscode.Position(0, 0), "unsaved, not "); });
    assert.equal(reading.buffer(path), "unsaved, not on the disk\n");
    assert.equal(new TextDecoder().decode(await reading.disk(path)), "on the disk\n");
    assert.equal(await reading.disk(join(root, "none.txt")), undefined);
    await vscode.commands.executeCommand("workbench.action.files.revert");
  },

  "a write changes buffer and disk, and undo takes it back": async (root) => {
    const path = await file(root, "write.txt", "one\r\ntwo\r\n");
    const editor = await show(path);
    await writeThroughEditor(path, "one\r\n2\r\n");
    assert.equal(editor.document.getText(), "one\r\n2\r\n");
    assert.equal(editor.document.isDirty, false);
    assert.equal(await readFile(path, "utf8"), "one\r\n2\r\n");
    await vscode.commands.executeCommand("undo");
    assert.equal(editor.document.getText(), "one\r\ntwo\r\n");
    await vscode.commands.executeCommand("workbench.action.files.revert");
  },

  "a new file is made with its folders": async (root) => {
    const path = join(root, "new", "deep", "a.txt");
    await writeThroughEditor(path, "fresh\n");
    assert.equal(await readFile(path, "utf8"), "fresh\n");
  },

  "a proposed change is a native diff, which closes with its question": async (root) => {
    const diffs = new Diffs();
    // The extension serves the scheme already; this one has to be asked first.
    const serving = vscode.workspace.registerTextDocumentContentProvider(SCHEME, diffs);
    const change = { path: join(root, "d.txt"), oldText: "a\n", newText: "b\n" };
    await diffs.open({ change, sessionId: "s", questionId: "p1" });
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    assert.ok(input instanceof vscode.TabInputTextDiff);
    assert.equal(diffs.of(input.modified)?.questionId, "p1");
    assert.deepEqual([diffs.provideTextDocumentContent(input.original), diffs.provideTextDocumentContent(input.modified)], ["a\n", "b\n"]);
    await closeDiffsOf(diffs, "p1");
    assert.equal(vscode.window.tabGroups.activeTabGroup.activeTab, undefined);
    serving.dispose();
  },

  "a selection is embedded with its lines, or quoted": async (root) => {
    const path = await file(root, "sel.txt", "one\ntwo\nthree\n");
    const { document } = await show(path);
    const attachments = new Attachments();
    const range = new vscode.Range(0, 0, 1, 3);
    attachments.selection(document, range);
    assert.deepEqual(attachments.shown.map(({ label }) => label), ["sel.txt:1-2"]);
    assert.deepEqual(attachments.take(true), [{ type: "resource", resource: { uri: `${document.uri.toString()}#L1-L2`, text: "one\ntwo" } }]);
    attachments.selection(document, range);
    const [quoted] = attachments.take(false);
    assert.ok(quoted?.type === "text" && quoted.text.includes("```\none\ntwo\n```"));
  },

  "files are found by letters, and only those of the workspace are linked": async (root) => {
    await file(root, "My Long Name.txt", "");
    assert.deepEqual(await findFiles("mylong"), ["My Long Name.txt"]);
    const links = await mentioned('see @"My Long Name.txt", @none.txt and @../host-report.json');
    assert.deepEqual(links.map((link) => link.type === "resource_link" && link.name), ["My Long Name.txt"]);
    const dropped = await mentioned(`@"${join(root, "My Long Name.txt")}" @/etc/hostname`);
    assert.deepEqual(dropped, links);
  },

  "a command of the agent has a terminal, and closing it ends the command": async () => {
    const ended: string[] = [];
    const screen = terminalScreen({ terminalId: "t", sessionId: "s", label: "sleep\u001b[2J 9", kill: () => { ended.push("sleep"); } });
    const terminal = vscode.window.terminals.find(({ name }) => name === "Hermes ACP");
    assert.ok(terminal);
    terminal.show(true);
    screen.write("out\n");
    await new Promise((resolve) => setTimeout(resolve, 500));
    terminal.dispose();
    const deadline = Date.now() + 5000;
    while (ended.length === 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(ended, ["sleep"]);
  },

  "every command that is contributed is there": async () => {
    const extension = vscode.extensions.getExtension("hermes-acp.hermes-acp");
    assert.ok(extension);
    await extension.activate();
    const { contributes } = extension.packageJSON as { contributes: { commands: { command: string }[] } };
    const known = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(contributes.commands.filter(({ command }) => !known.has(command)), []);
  },

  "a problem can be sent": async (root) => {
    const path = await file(root, "bad.txt", "bad\n");
    const { document } = await show(path);
    const problems = vscode.languages.createDiagnosticCollection("test");
    const range = new vscode.Range(0, 0, 0, 3);
    problems.set(document.uri, [new vscode.Diagnostic(range, "This is bad")]);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>("vscode.executeCodeActionProvider", document.uri, range);
    assert.ok(actions.some(({ title }) => title === "Send to Hermes: This is bad"), actions.map(({ title }) => title).join());
    problems.dispose();
  },

  "the settings of a workspace cannot name another command": async (root) => {
    assert.match(await readFile(join(root, ".vscode", "settings.json"), "utf8"), /evil/);
    assert.notEqual(launch().command, "/evil");
  },
};

async function file(root: string, name: string, text: string): Promise<string> {
  const path = join(root, name);
  await writeFile(path, text);
  return path;
}

async function show(path: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(vscode.Uri.file(path), { preview: false });
}
