/** What each message of the webview does. */

import { isAbsolute, join } from "node:path";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import * as vscode from "vscode";
import type { Chat } from "../chat/chat.ts";
import type { FromWebview, Image, ToWebview } from "../chat/protocol.ts";
import { hostOf } from "../state/elicitation.ts";
import type { Change, Place, SessionState } from "../state/model.ts";
import type { Attachments } from "./attachments.ts";
import type { Diffs } from "./diffs.ts";
import { openDocument, writeThroughEditor } from "./files.ts";
import { findFiles, mentioned } from "./mentions.ts";
import { folder } from "./settings.ts";

export interface Office {
  readonly chat: Chat;
  readonly attachments: Attachments;
  readonly diffs: Diffs;
  post(message: ToWebview): void;
  /** Tells the webview everything: it is there now. */
  restart(): void;
  /** Tells the webview what stands around the conversation. */
  refresh(): void;
  embeds(): boolean;
  solve(action: string): Promise<void>;
}

type Handlers = { [Type in FromWebview["type"]]: (office: Office, message: Extract<FromWebview, { type: Type }>) => unknown };

/** Does what a message asks for. */
export async function act(office: Office, message: FromWebview): Promise<void> {
  const handler = HANDLERS[message.type] as (office: Office, message: FromWebview) => unknown;
  await handler(office, message);
}

const HANDLERS: Handlers = {
  ready: (office) => { office.restart(); },
  send,
  stop: ({ chat }) => withActive(chat, ({ id }) => chat.attempt(() => chat.stop(id))),
  undo: ({ chat }) => withActive(chat, ({ id }) => { chat.prompts.send(id, plain("/undo")); }),
  answer: ({ chat }, { question, option }) => chat.open.permissions.answer(question, option),
  dismiss: ({ chat }, { question }) => withActive(chat, ({ id }) => { chat.dismiss(id, question); }),
  reject: ({ chat }, { question, comment }) => withActive(chat, ({ id }) => { chat.rejectWith(id, question, comment); }),
  elicited: ({ chat }, { question, action, values }) =>
    chat.open.elicitations.answer(question, action === "accept" ? { action, values } : { action }),
  setOption: ({ chat }, { id: option, value }) =>
    withActive(chat, ({ id }) => chat.attempt(() => chat.sessions.setOption(id, option, value))),
  select: ({ chat }, { session }) => { chat.store.select(session); },
  close: ({ chat }, { session }) => chat.attempt(() => chat.sessions.close(session)),
  new: ({ chat }) => chat.attempt(() => chat.sessions.create(folder())),
  history,
  load: ({ chat }, { session, cwd, title }) => load(chat, session, cwd, title),
  delete: deleteSession,
  openFile: ({ chat }, { place }) => openPlace(place, chat.store.active?.cwd),
  openDiff: (office, { entry, part }) => openDiff(office, entry, part),
  revert: (office, { entry, part }) => revert(office, entry, part),
  openLink: ({ chat }, { href }) => openLink(href, chat.store.active?.cwd),
  copy: (_, { text }) => vscode.env.clipboard.writeText(text),
  insert: (_, { text }) => insertAtCursor(text),
  unqueue,
  findFiles: async ({ post }, { query }) => { post({ type: "files", query, files: await findFiles(query) }); },
  detach: (office, { id }) => { office.attachments.remove(id); office.refresh(); },
  problem: (office, { action }) => office.solve(action),
};

/** A prompt of words alone. */
export function plain(text: string): { blocks: ContentBlock[]; said: { text: string; pictures: []; links: [] } } {
  return { blocks: [{ type: "text", text }], said: { text, pictures: [], links: [] } };
}

async function send(office: Office, message: Extract<FromWebview, { type: "send" }>): Promise<void> {
  const { chat, attachments } = office;
  const session = chat.store.active?.id ?? (await chat.attempt(() => chat.sessions.create(folder())));
  if (session === undefined) {
    office.post({ type: "draft", text: message.text, images: message.images });
    return;
  }
  if (message.selection) attachSelection(attachments);
  const attached = attachments.take(office.embeds());
  office.refresh();
  const blocks = [...textBlock(message.text), ...message.images.map(imageBlock), ...(await mentioned(message.text)), ...attached];
  const links = blocks.flatMap(linkOf);
  if (blocks.length) chat.prompts.send(session, { blocks, said: { text: message.text, pictures: message.images, links } });
}

function textBlock(text: string): ContentBlock[] {
  return text.trim() ? [{ type: "text", text }] : [];
}

function imageBlock({ mimeType, data }: Image): ContentBlock {
  return { type: "image", mimeType, data };
}

function linkOf(block: ContentBlock): { name: string; uri: string }[] {
  if (block.type === "resource_link") return [{ name: block.name, uri: block.uri }];
  return block.type === "resource" ? [{ name: nameOf(block.resource.uri), uri: block.resource.uri }] : [];
}

/** The name of an embedded part of a file, such as `a.ts:3-9`. */
function nameOf(uri: string): string {
  return decoded(uri.split("/").at(-1) ?? "").replace(/#L(\d+)-L(\d+)$/, ":$1-$2");
}

/** The selection of the active editor, if there is one, goes with the prompt. */
export function attachSelection(attachments: Attachments): void {
  const editor = vscode.window.activeTextEditor;
  if (editor && !editor.selection.isEmpty) attachments.selection(editor.document, editor.selection);
}

async function history({ chat, post }: Office, { cursor }: { cursor?: string }): Promise<void> {
  const page = await chat.attempt(() => chat.sessions.list(folder(), cursor));
  const sessions = (page?.sessions ?? []).map((each) => ({
    id: each.sessionId,
    cwd: each.cwd,
    title: each.title ?? "",
    updated: each.updatedAt ?? "",
  }));
  post({ type: "history", sessions, next: page?.next });
}

async function load(chat: Chat, id: string, cwd: string, title: string): Promise<void> {
  if (chat.store.session(id)) chat.store.select(id);
  else await chat.attempt(() => chat.sessions.load({ id, cwd, title }));
}

async function deleteSession(office: Office, message: { session: string; title: string }): Promise<void> {
  const question = `Delete the session "${message.title.slice(0, 80)}" for good?`;
  const chosen = await vscode.window.showWarningMessage(question, { modal: true }, "Delete");
  if (chosen !== "Delete") return;
  await office.chat.attempt(() => office.chat.sessions.delete(message.session));
  await history(office, {});
}

function unqueue({ chat, post }: Office, { id }: { id: string }): void {
  withActive(chat, (session) => {
    const prompt = chat.prompts.drop(session.id, id);
    if (prompt) post({ type: "draft", text: prompt.said.text, images: prompt.said.pictures });
  });
}

/** Opens a file at a line, counted from 1. */
export async function openPlace(place: Place, cwd: string | undefined): Promise<void> {
  const path = isAbsolute(place.path) ? place.path : join(cwd ?? folder(), place.path);
  const line = Math.max(0, (place.line ?? 1) - 1);
  try {
    await vscode.window.showTextDocument(vscode.Uri.file(path), { selection: new vscode.Range(line, 0, line, 0), preview: true });
  } catch {
    void vscode.window.showWarningMessage(`${path} cannot be opened.`);
  }
}

/** Opens a web page, or a file of the workspace; anything else that a link may be is not followed. */
async function openLink(href: string, cwd: string | undefined): Promise<void> {
  if (hostOf(href) !== "") {
    await vscode.env.openExternal(vscode.Uri.parse(href, true));
    return;
  }
  const [, path, line] = /^(?:file:\/\/)?([^?#]+?)(?:(?:#L|:)(\d+).*)?$/.exec(href) ?? [];
  if (path === undefined || /^[a-z][a-z0-9+.-]+:/i.test(href.replace(/^file:/, "")) ) return;
  await openPlace({ path: decoded(path), ...(line ? { line: Number(line) } : {}) }, cwd);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

async function openDiff({ chat, diffs }: Office, entryId: string, part: number): Promise<void> {
  const session = chat.store.active;
  const card = session?.entries.find((each) => each.id === entryId);
  const change = changeIn(session, entryId, part);
  if (!session || !change || card?.kind !== "card") return;
  await diffs.open({ change, sessionId: session.id, questionId: card.permission?.questionId });
}

/** Takes one file's change back, if the file is still as the change left it. */
async function revert({ chat }: Office, entryId: string, part: number): Promise<void> {
  const change = changeIn(chat.store.active, entryId, part);
  if (!change) return;
  const now = openDocument(change.path)?.getText() ?? (await textOnDisk(change.path));
  if (now !== change.newText) {
    void vscode.window.showWarningMessage(`${change.path} has changed since; nothing was taken back.`);
    return;
  }
  if (change.oldText === null) await vscode.workspace.fs.delete(vscode.Uri.file(change.path), { useTrash: true });
  else await writeThroughEditor(change.path, change.oldText);
}

function changeIn(session: SessionState | undefined, entryId: string, part: number): Change | undefined {
  const entry = session?.entries.find((each) => each.id === entryId);
  const found = entry?.kind === "card" ? entry.parts[part] : undefined;
  return found?.kind === "diff" ? found.change : undefined;
}

async function textOnDisk(path: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.file(path)));
  } catch {
    return undefined;
  }
}

async function insertAtCursor(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) {
    void vscode.window.showInformationMessage("Open a file to insert into.");
    return;
  }
  await editor.edit((edit) => { edit.replace(editor.selection, text); });
}

function withActive(chat: Chat, work: (session: SessionState) => unknown): unknown {
  const session = chat.store.active;
  return session && work(session);
}
