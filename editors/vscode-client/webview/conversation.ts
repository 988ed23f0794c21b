/** The conversation on the page: entries come and change, and the reader's place in it is kept. */

import type { EntryView, Patch } from "../src/chat/protocol.ts";
import type { TerminalView } from "../src/state/model.ts";
import { drawTerminal, type TerminalBoxes } from "./card.ts";
import { draw, type Drawn } from "./entry.ts";
import { h } from "./h.ts";

/** Pixels from the end within which the reader counts as being there. */
const NEAR = 24;

export class Conversation {
  readonly element = h("div", { class: "conversation", tabindex: 0, role: "log", "aria-label": "Conversation", "aria-live": "off" });
  readonly #drawn = new Map<string, Drawn>();
  readonly #boxes: TerminalBoxes = new Map();
  readonly #announce: (text: string) => void;
  #follows = true;

  constructor(announce: (text: string) => void) {
    this.#announce = announce;
    this.element.addEventListener("scroll", () => { this.#follows = this.#nearEnd(); });
    this.element.addEventListener("click", (event) => { touch(event.target); });
    new ResizeObserver(() => { this.#follow(); }).observe(this.element);
    new MutationObserver(() => { this.#follow(); }).observe(this.element, { childList: true, subtree: true, characterData: true });
  }

  /** Begins anew, with another session or none. */
  reset(dropped: number): void {
    this.#drawn.clear();
    this.#boxes.clear();
    this.#follows = true;
    this.element.replaceChildren();
    if (dropped) this.element.append(h("p", { class: "notice info" }, `${dropped} older entries are not shown.`));
  }

  apply(patches: readonly Patch[]): void {
    for (const patch of patches) {
      if (patch.op === "put") this.#put(patch.entry);
      else if (patch.op === "grow") this.#drawn.get(patch.id)?.stream?.add(patch.text);
      else this.#drop(patch.before);
    }
  }

  terminal(id: string, view: TerminalView): void {
    drawTerminal(this.#boxes, id, view);
  }

  /** Moves to the last question that is open; false without one. */
  focusQuestion(): boolean {
    const open = [...this.element.querySelectorAll<HTMLElement>("[data-question]")].at(-1);
    open?.scrollIntoView({ block: "nearest" });
    (open?.querySelector<HTMLElement>("button, input, select") ?? open)?.focus();
    return open !== undefined;
  }

  #put(entry: EntryView): void {
    const before = this.#drawn.get(entry.id);
    const drawn = draw(entry, this.#boxes, before);
    const focused = before?.element.contains(document.activeElement) ?? false;
    if (before) before.element.replaceWith(drawn.element);
    else this.element.append(drawn.element);
    this.#drawn.set(entry.id, drawn);
    if (focused && !before?.element.isConnected) this.#keepFocus(drawn.element);
    if (asks(entry) && !(before?.element.querySelector("[data-question]"))) this.#asked(entry);
  }

  /** The focus does not fall out of the page when what had it is drawn anew. */
  #keepFocus(element: HTMLElement): void {
    const target = element.querySelector<HTMLElement>("button, input, select, summary") ?? this.element;
    target.focus({ preventScroll: true });
  }

  /** A question is announced; the focus goes to it only from a prompt in which nothing is written. */
  #asked(entry: EntryView): void {
    this.#announce(`The agent asks: ${entry.kind === "card" ? entry.title : "message" in entry ? entry.message : ""}`);
    const active = document.activeElement;
    const idle = active === document.body || active === this.element || (active instanceof HTMLTextAreaElement && active.value === "");
    if (document.hasFocus() && idle) this.focusQuestion();
  }

  #drop(before: string): void {
    for (const [id, drawn] of this.#drawn) {
      if (id === before) return;
      drawn.element.remove();
      this.#drawn.delete(id);
    }
  }

  #nearEnd(): boolean {
    const { scrollTop, clientHeight, scrollHeight } = this.element;
    return scrollTop + clientHeight >= scrollHeight - NEAR;
  }

  #follow(): void {
    if (this.#follows) this.element.scrollTop = this.element.scrollHeight;
  }
}

function asks(entry: EntryView): boolean {
  if (entry.kind === "card") return entry.permission !== undefined;
  return (entry.kind === "form" || entry.kind === "page") && entry.outcome === undefined;
}

function touch(target: EventTarget | null): void {
  const details = target instanceof Element ? target.closest("summary")?.parentElement : undefined;
  if (details) details.dataset["touched"] = "true";
}
