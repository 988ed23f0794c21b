/** The page of the webview with the addresses that this editor gives its files. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { page } from "../chat/page.ts";

/** The page; a fresh nonce each time. */
export function pageOf(webview: vscode.Webview, extension: vscode.Uri): string {
  const nonce = randomBytes(16).toString("base64");
  const script = webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", "webview.js")).toString();
  const style = webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", "webview-style.css")).toString();
  return page({ script, style, nonce, source: webview.cspSource });
}
