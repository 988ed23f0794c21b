/** The chat in the side bar. */

import * as vscode from "vscode";
import { readMessage } from "../chat/incoming.ts";
import type { FromWebview, ToWebview } from "../chat/protocol.ts";
import { pageOf } from "./html.ts";

export const VIEW = "hermes-acp.chat";

export class ChatView implements vscode.WebviewViewProvider {
  readonly #extension: vscode.Uri;
  readonly #received: (message: FromWebview) => void;
  #view: vscode.WebviewView | undefined;
  #waiting: ToWebview[] = [];
  #ready = false;

  constructor(extension: vscode.Uri, received: (message: FromWebview) => void) {
    this.#extension = extension;
    this.#received = received;
  }

  get visible(): boolean {
    return this.#view?.visible ?? false;
  }

  /** Says something to the webview; what it is told before it is there is lost, but for focus and drafts. */
  post(message: ToWebview): void {
    if (this.#ready) void this.#view?.webview.postMessage(message);
    else if (message.type === "focus" || message.type === "draft") this.#waiting.push(message);
  }

  /** The webview has told that it listens. */
  listens(): void {
    this.#ready = true;
    for (const message of this.#waiting.splice(0)) this.post(message);
  }

  /** How many wait for the person, beside the icon. */
  badge(count: number): void {
    if (!this.#view) return;
    this.#view.badge = count ? { value: count, tooltip: "The agent asks" } : undefined;
  }

  async show(): Promise<void> {
    await vscode.commands.executeCommand(`${VIEW}.focus`);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    this.#ready = false;
    const dist = vscode.Uri.joinPath(this.#extension, "dist");
    view.webview.options = { enableScripts: true, enableForms: false, enableCommandUris: false, localResourceRoots: [dist] };
    view.webview.onDidReceiveMessage((data: unknown) => {
      const message = readMessage(data);
      if (message) this.#received(message);
    });
    view.onDidDispose(() => {
      this.#view = undefined;
      this.#ready = false;
    });
    view.webview.html = pageOf(view.webview, this.#extension);
  }
}
