/** Changed files as hunks, bounded in what is compared and what is sent. */

import { structuredPatch } from "diff";
import { relative } from "node:path";
import type { Change } from "../state/model.ts";
import type { ChangeView, Hunk } from "./protocol.ts";

/** Milliseconds after which two texts count as wholly different. */
const PATIENCE = 60;
const LONGEST_LINE = 2000;
const MOST_LINES = 20_000;

const known = new WeakMap<Change, ChangeView>();

/** The hunks of a change; made once. */
export function changeView(change: Change, cwd: string): ChangeView {
  const made = known.get(change) ?? { ...hunksOf(change), path: change.path, shown: shownPath(change.path, cwd) };
  known.set(change, made);
  return made;
}

/** A path below the folder as it is written there, any other whole. */
export function shownPath(path: string, cwd: string): string {
  const way = relative(cwd, path);
  return way === "" || way.startsWith("..") ? path : way;
}

function hunksOf(change: Change): Pick<ChangeView, "hunks" | "added" | "removed" | "isNew"> {
  const before = change.oldText ?? "";
  const options = { context: 3, timeout: PATIENCE, maxEditLength: 4000 };
  const patch = structuredPatch("", "", before, change.newText, "", "", options);
  const hunks = patch ? patch.hunks.map(hunk) : wholly(before, change.newText);
  const lines = hunks.flatMap((each) => each.lines);
  return {
    hunks: bounded(hunks),
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
    isNew: change.oldText === null,
  };
}

function hunk(each: { oldStart: number; newStart: number; lines: string[] }): Hunk {
  return { header: `@@ -${each.oldStart} +${each.newStart} @@`, lines: each.lines.map(short) };
}

function wholly(before: string, after: string): Hunk[] {
  const removed = linesOf(before).map((line) => `-${line}`);
  const added = linesOf(after).map((line) => `+${line}`);
  return [{ header: "@@ -1 +1 @@", lines: [...removed, ...added].map(short) }];
}

function bounded(hunks: readonly Hunk[]): Hunk[] {
  let left = MOST_LINES;
  const kept: Hunk[] = [];
  for (const each of hunks) {
    if (left <= 0) break;
    const over = each.lines.length - left;
    const lines = over > 0 ? [...each.lines.slice(0, left), `\\ ${over} lines more: open the diff`] : each.lines;
    kept.push({ ...each, lines });
    left -= each.lines.length;
  }
  return kept;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function short(line: string): string {
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)}…`;
}
