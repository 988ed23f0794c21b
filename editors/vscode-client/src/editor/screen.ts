/** The agent's commands in integrated terminals that one can look at, copy from and end. */

import * as vscode from "vscode";
import type { Run, Screen } from "../asks/terminals.ts";

/** Opens a terminal for a command, in the background. */
export function terminalScreen(run: Run): Screen {
  const written = new vscode.EventEmitter<string>();
  const closed = new vscode.EventEmitter<number>();
  let early: string[] | undefined = [];
  const write = (text: string): void => {
    if (early) early.push(text);
    else written.fire(text);
  };
  const pty: vscode.Pseudoterminal = {
    onDidWrite: written.event,
    onDidClose: closed.event,
    open: () => {
      const before = early ?? [];
      early = undefined;
      written.fire(`\x1b[1m${shown(run.label)}\x1b[0m\r\n`);
      for (const text of before) written.fire(text);
    },
    close: run.kill,
    handleInput: (data) => {
      if (data === "\x03") run.kill();
    },
  };
  vscode.window.createTerminal({ name: "Hermes ACP", pty, iconPath: new vscode.ThemeIcon("robot"), isTransient: true });
  return {
    write: (text) => {
      write(text.replace(/\r?\n/g, "\r\n"));
    },
    exit: (code) => {
      write(`\r\n\x1b[2m[${code === null ? "ended" : `exit code ${code}`}]\x1b[0m\r\n`);
    },
  };
}

/** A command without anything that a terminal would obey. */
function shown(label: string): string {
  return label.replace(/\p{Cc}/gu, " ").slice(0, 2000);
}
