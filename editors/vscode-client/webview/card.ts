/** A tool call as a card: what it is, how it stands, what came out, and the question it may wait for. */

import type { CardPartView, CardView, PlaceView } from "../src/chat/protocol.ts";
import type { TerminalView } from "../src/state/model.ts";
import { diffView } from "./diff.ts";
import { button, h } from "./h.ts";
import { tell } from "./host.ts";
import { markdown } from "./markdown.ts";
import { drawOutput, outputBox } from "./output.ts";
import { unfenced } from "./pure/fence.ts";
import { type FileChoice, fileChoice, permissionView } from "./permission.ts";

/** Where the output of terminals is drawn, by their ids. */
export type TerminalBoxes = Map<string, HTMLElement>;

const STATES = { pending: "waiting", in_progress: "running", completed: "done", failed: "failed" } as const;
const SIGNS = { pending: "○", in_progress: "◐", completed: "✓", failed: "✗" } as const;

export function cardView(card: CardView, boxes: TerminalBoxes, folded: boolean | undefined): HTMLElement {
  const asks = card.permission !== undefined;
  const state = asks ? "asks" : card.refused && card.status !== "completed" ? "rejected" : STATES[card.status];
  const files = asks ? filesOf(card) : new Map<number, FileChoice>();
  const parts = card.parts.map((part, index) => partView(card, part, index, boxes, files));
  const details = h("details", { class: "details" }, h("summary", {}, summary(card, state)), !asks && exactCommand(card), ...places(card.places), ...parts);
  details.open = folded === undefined ? asks || isOpen(card) : !folded;
  return h(
    "article",
    { class: `card ${asks ? "asks" : card.status}`, "aria-label": `${card.title || card.tool}, ${state}` },
    details,
    asks && exactCommand(card),
    card.permission && permissionView(card, card.permission, [...files.values()]),
    card.answer !== undefined && h("p", { class: "answer" }, `You answered: ${card.answer}`),
  );
}

/** What is worth seeing without a click: changes, and commands that run or failed. */
function isOpen(card: CardView): boolean {
  const live = card.tool === "execute" && (card.status === "in_progress" || card.status === "failed");
  return live || card.parts.some((part) => part.kind === "diff" || part.kind === "image");
}

function summary(card: CardView, state: string): HTMLElement {
  const sign = card.permission ? "?" : SIGNS[card.status];
  return h(
    "span",
    { class: "summary" },
    h("span", { class: "sign", "aria-hidden": "true" }, sign),
    h("span", { class: "title" }, card.title || card.tool),
    h("span", { class: "state" }, state),
  );
}

/** The command as it is; while it is asked about it stands outside of what folds, so that it is read before it is answered. */
function exactCommand(card: CardView): HTMLElement | false {
  if (card.command === undefined) return false;
  return h("pre", { class: "command", tabindex: 0, role: "region", "aria-label": "The exact command" }, visible(card.command));
}

/** Characters that hide or turn others are shown by their numbers. */
function visible(command: string): string {
  return command.replace(/[\p{Cf}\p{Co}\u2028\u2029]|(?![\n\t])\p{Cc}/gu, (each) => `\\u{${each.codePointAt(0)?.toString(16) ?? ""}}`);
}

function places(all: readonly PlaceView[]): HTMLElement[] {
  if (all.length === 0) return [];
  const links = all.slice(0, 50).map((place) => {
    const { shown, ...at } = place;
    const name = at.line ? `${shown}:${at.line}` : shown;
    return h("li", {}, button(name, () => { tell({ type: "openFile", place: at }); }, { class: "link" }));
  });
  return [h("ul", { class: "places", "aria-label": "Places" }, ...links)];
}

function filesOf(card: CardView): Map<number, FileChoice> {
  const changes = card.parts.flatMap((part, index) => (part.kind === "diff" ? [{ index, name: part.change.shown }] : []));
  if (changes.length < 2) return new Map();
  return new Map(changes.map(({ index, name }) => [index, fileChoice(name)]));
}

function partView(card: CardView, part: CardPartView, index: number, boxes: TerminalBoxes, files: Map<number, FileChoice>): HTMLElement | undefined {
  switch (part.kind) {
    case "diff":
      return diffView(part.change, { entry: card.id, part: index, choice: files.get(index)?.box, done: card.status === "completed" });
    case "terminal":
      return terminalBox(part.terminalId, boxes);
    case "image":
      return h("img", { src: `data:${part.picture.mimeType};base64,${part.picture.data}`, alt: "Image of the tool's result" });
    case "link":
      return h("p", {}, button(part.name, () => { tell({ type: "openLink", href: part.uri }); }, { class: "link" }));
    case "text":
      return textPart(card, part.text);
  }
}

/**
 * Output of commands keeps its columns and colours, and comes bare or in a fence; what else tools say is mostly
 * Markdown, and so is what a question says beside the command, which stands below it anyway.
 */
function textPart(card: CardView, text: string): HTMLElement | undefined {
  const inside = unfenced(text);
  if (card.permission && inside !== undefined && inside === card.command) return undefined;
  if (card.tool !== "execute" || (card.permission && inside === undefined)) {
    const box = h("div", { class: "result", tabindex: 0, role: "region", "aria-label": "Result" });
    box.append(text.length < 20_000 ? markdown(text) : h("pre", {}, text));
    return box;
  }
  const box = outputBox("Output");
  drawOutput(box, inside ?? text);
  return box;
}

function terminalBox(id: string, boxes: TerminalBoxes): HTMLElement {
  const box = boxes.get(id) ?? outputBox("Output of the terminal");
  boxes.set(id, box);
  return box;
}

/** New output of a terminal, in the box of its card. */
export function drawTerminal(boxes: TerminalBoxes, id: string, view: TerminalView): void {
  const box = boxes.get(id) ?? outputBox("Output of the terminal");
  boxes.set(id, box);
  drawOutput(box, view.ended === undefined ? view.text : `${view.text}\n[${view.ended}]`);
}
