/** Signing in by one of the agent's methods: in a terminal, where it asks itself, or by the agent alone. */

import type { AuthMethod } from "@agentclientprotocol/sdk";
import * as vscode from "vscode";
import type { Launch } from "../wire/process.ts";

/** Runs the terminal of a method until it is closed; false when the method needs none. */
export async function signInByTerminal(method: AuthMethod, launch: Launch): Promise<boolean> {
  if (!("type" in method)) return false;
  const terminal = vscode.window.createTerminal({
    name: method.name,
    shellPath: launch.command,
    shellArgs: [...launch.args, ...(method.args ?? [])],
    env: { ...launch.env, ...method.env },
    cwd: launch.cwd,
  });
  terminal.show();
  await new Promise<void>((resolve) => {
    const listening = vscode.window.onDidCloseTerminal((closed) => {
      if (closed !== terminal) return;
      listening.dispose();
      resolve();
    });
  });
  return true;
}
