/** A changed file in the card: its hunks, folded when they are long, and a way to the editor's own diff. */

import type { ChangeView, Hunk } from "../src/chat/protocol.ts";
import { button, h } from "./h.ts";
import { tell } from "./host.ts";

/** Lines that are drawn at once; more come in pieces, so that the page stays quick. */
const PIECE = 250;
const SIGNS: Readonly<Record<string, string>> = { "+": "added", "-": "removed", "\\": "note" };

export interface DiffPlace {
  readonly entry: string;
  readonly part: number;
  /** The box that says whether this file is wanted, while a question about several files is open. */
  readonly choice: HTMLElement | undefined;
  readonly done: boolean;
}

export function diffView(change: ChangeView, place: DiffPlace): HTMLElement {
  const { entry, part } = place;
  const sum = `+${change.added} −${change.removed}`;
  const name = button(change.shown, () => { tell({ type: "openFile", place: { path: change.path } }); }, { class: "link", title: change.path });
  const open = button("Open Diff", () => { tell({ type: "openDiff", entry, part }); }, { "aria-label": `Open Diff of ${change.shown}` });
  const back = place.done && button("Take Back", () => { tell({ type: "revert", entry, part }); }, { "aria-label": `Take Back ${change.shown}` });
  const heading = h("div", { class: "diff-heading" }, place.choice, name, h("span", { class: "sum" }, change.isNew ? `new ${sum}` : sum), open, back);
  return h("div", { class: "diff" }, heading, lines(change));
}

function lines(change: ChangeView): HTMLElement {
  const all = change.hunks.flatMap(lineViews);
  const box = h("pre", { class: "hunks", tabindex: 0, role: "region", "aria-label": `Changes of ${change.shown}` });
  draw(box, all, 0);
  return box;
}

interface LineView {
  readonly look: string;
  readonly text: string;
}

function lineViews(hunk: Hunk): LineView[] {
  return [{ look: "hunk", text: hunk.header }, ...hunk.lines.map((text) => ({ look: SIGNS[text[0] ?? ""] ?? "same", text }))];
}

function draw(box: HTMLElement, all: readonly LineView[], from: number): void {
  box.append(...all.slice(from, from + PIECE).map(({ look, text }) => h("div", { class: `line ${look}` }, text)));
  const next = from + PIECE;
  if (next >= all.length) return;
  const more = button(`Show ${Math.min(PIECE, all.length - next)} of ${all.length - next} more lines`, () => {
    more.remove();
    draw(box, all, next);
  });
  box.append(more);
}
