/** The way to the extension. */

import type { FromWebview } from "../src/chat/protocol.ts";

interface VsCode {
  postMessage(message: FromWebview): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCode;

const api = acquireVsCodeApi();

/** Tells the extension something. */
export function tell(message: FromWebview): void {
  api.postMessage(message);
}

/** What was typed and not sent; it outlives the webview. */
export function draft(): string {
  const state = api.getState() as { draft?: unknown } | null | undefined;
  return typeof state?.draft === "string" ? state.draft : "";
}

export function keepDraft(text: string): void {
  api.setState({ draft: text });
}
