/** `@file` in a prompt: files found as one types, and links to those that a prompt names. */

import { isAbsolute } from "node:path";
import * as vscode from "vscode";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { link } from "./attachments.ts";

const MOST_FOUND = 20;
const EXCLUDED = "**/{node_modules,.git,.venv,dist,build,__pycache__}/**";

/** Paths of files whose path has the letters of the query in it, in order. */
export async function findFiles(query: string): Promise<string[]> {
  const letters = Array.from(query.replace(/[[\]{}*?!,\\]/g, ""));
  const glob = `**/*${letters.length ? `${letters.map(anyCase).join("*")}*` : ""}`;
  const byName = await vscode.workspace.findFiles(letters.includes("/") ? `**/${query}*` : glob, EXCLUDED, 200);
  const paths = byName.map((uri) => vscode.workspace.asRelativePath(uri));
  return paths.sort((one, other) => one.length - other.length || one.localeCompare(other)).slice(0, MOST_FOUND);
}

/** Links to the files that a prompt mentions and that are there. */
export async function mentioned(text: string): Promise<ContentBlock[]> {
  const found = await Promise.all(namesIn(text).map(fileOf));
  return found.filter((uri) => uri !== undefined).map(link);
}

/** The names behind `@` at the beginning of words; in quotes where they have spaces. */
export function namesIn(text: string): string[] {
  const names = [...text.matchAll(/(?<=^|\s)@(?:"([^"\n]+)"|(\S+))/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
  return [...new Set(names.map((name) => name.replace(/[.,;:!?)]+$/, "")))].filter(Boolean).slice(0, 50);
}

async function fileOf(name: string): Promise<vscode.Uri | undefined> {
  for (const { uri } of vscode.workspace.workspaceFolders ?? []) {
    // A file that was dropped is named by its whole path.
    const candidate = isAbsolute(name) ? vscode.Uri.file(name) : vscode.Uri.joinPath(uri, name);
    const inside = candidate.path.startsWith(`${uri.path}/`);
    if (inside && (await isFile(candidate))) return candidate;
  }
  return undefined;
}

function isFile(uri: vscode.Uri): Promise<boolean> {
  return Promise.resolve(vscode.workspace.fs.stat(uri)).then(
    () => true,
    () => false,
  );
}

function anyCase(letter: string): string {
  const [low, high] = [letter.toLowerCase(), letter.toUpperCase()];
  return low === high ? letter : `[${low}${high}]`;
}
