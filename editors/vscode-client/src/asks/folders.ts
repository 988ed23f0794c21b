/** Which files belong to the workspace: by where they really are, not by how they are written. */

import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

export type Folders = () => readonly string[];

/** Folders below a workspace folder whose files change what a program does later. */
const GUARDED = new Set([".git", ".vscode"]);

/** Whether a path lies in the workspace; what a symbolic link leads to is what counts. */
export async function isInside(folders: Folders, path: string): Promise<boolean> {
  if (!isAbsolute(path)) return false;
  const real = await realOrParent(resolve(path));
  const roots = await Promise.all(folders().map((folder) => realOrParent(resolve(folder))));
  return roots.some((root) => below(root, real));
}

function below(root: string, path: string): boolean {
  const way = relative(root, path);
  if (way === "" || way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) return false;
  return !way.split(sep).some((name) => GUARDED.has(name.toLowerCase()));
}

/** The real path; of what does not exist yet, the real path of the nearest folder that does. */
async function realOrParent(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realOrParent(parent), path.slice(parent.length).replace(/^[\\/]/, ""));
  }
}
