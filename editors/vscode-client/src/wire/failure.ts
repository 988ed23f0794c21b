/** What went wrong, in words a person can act on. */

import { RequestError } from "@agentclientprotocol/sdk";
import { type Ended, NotStarted } from "./process.ts";

const AUTH_REQUIRED = -32000;
const RESOURCE_NOT_FOUND = -32002;

export type Failure =
  | { readonly kind: "missing"; readonly text: string }
  | { readonly kind: "signedOut"; readonly text: string }
  | { readonly kind: "gone"; readonly text: string }
  | { readonly kind: "error"; readonly text: string };

/** What an error of starting, connecting or asking means. */
export function failureOf(error: unknown): Failure {
  if (error instanceof NotStarted) return { kind: "missing", text: error.message };
  if (error instanceof RequestError) {
    return { kind: error.code === AUTH_REQUIRED ? "signedOut" : "error", text: withDetails(error) };
  }
  return { kind: "error", text: error instanceof Error ? error.message : String(error) };
}

/** Whether the agent does not know the session that it was asked for. */
export function isUnknownSession(error: unknown): boolean {
  return error instanceof RequestError && error.code === RESOURCE_NOT_FOUND;
}

/** How the end of a process reads. */
export function endOf(ended: Ended): string {
  const how = ended.signal ? `was ended by ${ended.signal}` : `ended with code ${ended.code ?? "unknown"}`;
  const last = ended.lastWords.split("\n").slice(-6).join("\n");
  return last ? `The agent ${how}:\n${last}` : `The agent ${how}.`;
}

function withDetails(error: RequestError): string {
  const { data } = error as { data?: unknown };
  const details = typeof data === "object" && data !== null ? (data as { details?: unknown; hint?: unknown }) : {};
  const more = details.hint ?? details.details;
  return typeof more === "string" ? `${error.message}\n${more}` : error.message;
}
