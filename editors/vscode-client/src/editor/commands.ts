/** The commands of the palette, the menus and the keys. */

import * as vscode from "vscode";
import type { Chat } from "../chat/chat.ts";
import { closeDiffsOf, type Diffs } from "./diffs.ts";
import type { Attachments } from "./attachments.ts";
import type { ChatView } from "./view.ts";
import { folder } from "./settings.ts";

export interface Workplace {
  readonly chat: Chat;
  readonly view: ChatView;
  readonly attachments: Attachments;
  readonly diffs: Diffs;
  readonly log: vscode.OutputChannel;
  refresh(): void;
  /** Starts the agent, and takes up what was open. */
  again(): Promise<void>;
}

/** Registers all of them. */
export function registerCommands(place: Workplace): vscode.Disposable[] {
  const register = (name: string, run: (...args: unknown[]) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`hermes-acp.${name}`, run);
  return [
    register("open", () => open(place)),
    register("newSession", () => newSession(place)),
    register("history", () => showHistory(place)),
    register("stop", () => stop(place)),
    register("restart", () => restart(place)),
    register("showLog", () => { place.log.show(); }),
    register("send", (uri, diagnostic) => send(place, uri, diagnostic)),
    register("sendOpenEditors", () => sendOpenEditors(place)),
    register("focusQuestion", () => focus(place, "question")),
    register("acceptDiff", () => answerDiff(place, true)),
    register("rejectDiff", () => answerDiff(place, false)),
  ];
}

async function open(place: Workplace): Promise<void> {
  await focus(place, "prompt");
}

async function newSession(place: Workplace): Promise<void> {
  await open(place);
  await place.chat.attempt(() => place.chat.sessions.create(folder()));
}

async function showHistory(place: Workplace): Promise<void> {
  await focus(place, "history");
}

async function stop({ chat }: Workplace): Promise<void> {
  const session = chat.store.active;
  if (session) await chat.attempt(() => chat.stop(session.id));
}

async function restart({ chat, again }: Workplace): Promise<void> {
  await chat.link.stop();
  await again();
}

async function focus({ view }: Workplace, where: "prompt" | "question" | "history"): Promise<void> {
  await view.show();
  view.post({ type: "focus", where });
}

/** The selection, a problem, or a file goes with the next prompt. */
async function send(place: Workplace, uri: unknown, diagnostic: unknown): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (uri instanceof vscode.Uri && isDiagnostic(diagnostic)) place.attachments.problem(uri, diagnostic);
  else if (editor && !editor.selection.isEmpty) place.attachments.selection(editor.document, editor.selection);
  else if (editor) place.attachments.file(editor.document.uri);
  place.refresh();
  await focus(place, "prompt");
}

async function sendOpenEditors(place: Workplace): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  for (const { input } of tabs) {
    if (input instanceof vscode.TabInputText && input.uri.scheme === "file") place.attachments.file(input.uri);
  }
  place.refresh();
  await focus(place, "prompt");
}

/** The buttons in the title of a diff: they answer the question that the diff is part of. */
async function answerDiff({ chat, diffs }: Workplace, accept: boolean): Promise<void> {
  const shown = diffs.of(vscode.window.activeTextEditor?.document.uri);
  if (shown?.questionId === undefined) {
    void vscode.window.showInformationMessage("This edit does not wait for an answer.");
    return;
  }
  const { questionId, sessionId } = shown;
  if (accept) chat.allow(sessionId, questionId);
  else chat.dismiss(sessionId, questionId);
  await closeDiffsOf(diffs, questionId);
}

function isDiagnostic(value: unknown): value is vscode.Diagnostic {
  return typeof value === "object" && value !== null && "message" in value && "range" in value;
}

/** "Send to Hermes" in the light bulb of a problem. */
export const problemActions: vscode.CodeActionProvider = {
  provideCodeActions: (document, _, context) =>
    context.diagnostics.map((diagnostic) => {
      const action = new vscode.CodeAction(`Send to Hermes: ${diagnostic.message.slice(0, 60)}`, vscode.CodeActionKind.QuickFix);
      action.command = { command: "hermes-acp.send", title: action.title, arguments: [document.uri, diagnostic] };
      action.diagnostics = [diagnostic];
      return action;
    }),
};
