/** What stands in the way, and the buttons that help. */

import type { AuthMethod } from "@agentclientprotocol/sdk";
import { failureOf } from "../wire/failure.ts";
import type { Problem } from "./store.ts";

const RETRY = { id: "retry", title: "Try Again" };
const SETTINGS = { id: "settings", title: "Open the Settings" };
const TRUST = { id: "trust", title: "Manage Trust" };
const LOG = { id: "log", title: "Show the Log" };

/** The agent was not started: the workspace is not trusted. */
export class NotTrusted extends Error {
  constructor() {
    super("This workspace is not trusted. The agent reads its files and runs commands in it, so it is started only in a workspace that you trust.");
    this.name = "NotTrusted";
  }
}

/** The problem that an error is, with an action for each way to sign in. */
export function problemOf(error: unknown, authMethods: readonly AuthMethod[] | undefined): Problem {
  if (error instanceof NotTrusted) return { text: error.message, actions: [TRUST] };
  const failure = failureOf(error);
  switch (failure.kind) {
    case "missing":
      return {
        text: `${failure.text}\nInstall the agent, or name its absolute path in the setting hermes-acp.command.`,
        actions: [SETTINGS, { id: "install", title: "How to Install" }, RETRY],
      };
    case "signedOut":
      return { text: `Not signed in. ${failure.text.replace(/^Authentication required[:.]?\s*/i, "")}`, actions: [...signIns(authMethods ?? []), RETRY] };
    case "gone":
    case "error":
      return { text: failure.text, actions: [RETRY, SETTINGS, LOG] };
  }
}

/** A terminal, where one is asked, stands before what the agent has just tried by itself. */
function signIns(authMethods: readonly AuthMethod[]): Problem["actions"] {
  const inTerminal = (method: AuthMethod): boolean => "type" in method;
  const methods = [...authMethods.filter(inTerminal), ...authMethods.filter((method) => !inTerminal(method))];
  return methods.map(({ id, name, description }) => ({ id: `auth:${id}`, title: name, ...(description ? { hint: description } : {}) }));
}
