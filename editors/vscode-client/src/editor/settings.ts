/** The settings of the extension, and the folder that a session works in. */

import { homedir } from "node:os";
import * as vscode from "vscode";
import { NotTrusted } from "../chat/problems.ts";
import type { Launch } from "../wire/process.ts";

const SECTION = "hermes-acp";

/**
 * How the agent is started.
 *
 * @throws NotTrusted in a workspace that is not trusted.
 */
export function launch(): Launch {
  if (!vscode.workspace.isTrusted) throw new NotTrusted();
  const config = vscode.workspace.getConfiguration(SECTION);
  return {
    command: config.get<string>("command", "hermes-acp-agent").trim().replace(/^~(?=[\\/])/, homedir()),
    args: config.get<string[]>("args", ["--stdio"]),
    env: config.get<Record<string, string>>("env", {}),
    cwd: folder(),
  };
}

export function defaultMode(): string {
  return vscode.workspace.getConfiguration(SECTION).get<string>("defaultMode", "");
}

export function logsTraffic(): boolean {
  return vscode.workspace.getConfiguration(SECTION).get<boolean>("logTraffic", false);
}

/** The folders of the workspace on this machine. */
export function folders(): string[] {
  const all = vscode.workspace.workspaceFolders ?? [];
  return all.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
}

/** The folder of the active file's workspace, else the first one, else the home. */
export function folder(): string {
  const active = vscode.window.activeTextEditor?.document.uri;
  const own = active && vscode.workspace.getWorkspaceFolder(active);
  return own?.uri.scheme === "file" ? own.uri.fsPath : (folders()[0] ?? homedir());
}
