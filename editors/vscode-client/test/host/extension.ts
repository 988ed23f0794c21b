/** Runs the tests when the editor has started, and writes down how they went. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";
import { TESTS } from "./tests.ts";

/** Beside the workspace, where the test that started the editor looks for it. */
const REPORT = join("..", "host-report.json");

export async function activate(): Promise<void> {
  const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  const results: { name: string; error: string }[] = [];
  for (const [name, run] of Object.entries(TESTS)) {
    const error = await run(root).then(
      () => "",
      (reason: unknown) => (reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)),
    );
    results.push({ name, error });
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  }
  await writeFile(join(root, REPORT), JSON.stringify(results));
}
