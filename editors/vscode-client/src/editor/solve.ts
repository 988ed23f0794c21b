/** The buttons of a problem: each does what helps against it. */

import * as vscode from "vscode";
import type { Chat } from "../chat/chat.ts";
import { launch } from "./settings.ts";
import { signInByTerminal } from "./signIn.ts";

/** This extension, whose page tells how the agent is installed. */
const SELF = "hermes-acp.hermes-acp";

export interface Solving {
  readonly chat: Chat;
  readonly log: vscode.OutputChannel;
  /** Begins where the problem stopped it. */
  again(): Promise<void>;
}

/** Does what a button of a problem says. */
export async function solve(solving: Solving, action: string): Promise<void> {
  if (action.startsWith("auth:")) await signIn(solving, action.slice("auth:".length));
  else await ACTIONS[action]?.(solving);
}

const ACTIONS: Readonly<Record<string, (solving: Solving) => unknown>> = {
  retry: ({ again }) => again(),
  settings: openSettings,
  install: () => vscode.commands.executeCommand("extension.open", SELF),
  log: ({ log }) => { log.show(); },
  trust: () => vscode.commands.executeCommand("workbench.trust.manage"),
};

/** In a remote window the agent's settings are those of the machine there, which have a page of their own. */
async function openSettings(): Promise<void> {
  const command = vscode.env.remoteName === undefined ? "openSettings" : "openRemoteSettings";
  await vscode.commands.executeCommand(`workbench.action.${command}`, { query: `@ext:${SELF}` });
}

async function signIn({ chat, again }: Solving, methodId: string): Promise<void> {
  const done = await chat.attempt(async () => {
    const { about } = await chat.link.connection();
    const method = about.authMethods?.find((each) => each.id === methodId);
    if (!method) throw new Error("The agent does not offer this way to sign in any more");
    if (await signInByTerminal(method, launch())) await chat.link.stop();
    else await chat.authenticate(methodId);
    return true;
  });
  if (done) await again();
}
