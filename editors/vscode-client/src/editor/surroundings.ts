/** The editor as the chat sees it. */

import * as vscode from "vscode";
import type { Surroundings } from "../chat/surroundings.ts";
import { logLine } from "../wire/traffic.ts";
import { reading, writeThroughEditor } from "./files.ts";
import { terminalScreen } from "./screen.ts";
import { defaultMode, folders, launch, logsTraffic } from "./settings.ts";

export type Told = Surroundings["told"];

export function surroundings(context: vscode.ExtensionContext, log: vscode.LogOutputChannel, told: Told): Surroundings {
  const { version } = context.extension.packageJSON as { version: string };
  return {
    version, reading, folders, launch, defaultMode, told,
    write: writeThroughEditor,
    screen: terminalScreen,
    open: async (url) => { await vscode.env.openExternal(vscode.Uri.parse(url, true)); },
    log: (line) => { log.info(line); },
    watch: () => (logsTraffic() ? (direction, message) => { log.info(logLine(direction, message)); } : undefined),
  };
}
