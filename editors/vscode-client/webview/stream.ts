/** Markdown that grows: pieces that are whole are drawn once, only the last one is drawn again. */

import { h } from "./h.ts";
import { markdown } from "./markdown.ts";
import { split } from "./pure/blocks.ts";

/** Shares of the time that drawing again may take: a quarter, so that the rest of the page stays quick. */
const SHARE = 4;
const SLOWEST = 1000;

export class StreamedMarkdown {
  readonly element = h("div", { class: "markdown" });
  readonly #open = h("div");
  #tail = "";
  #timer: number | undefined;
  #pause = 0;

  constructor(text: string) {
    this.element.append(this.#open);
    this.add(text);
  }

  /** Takes more text; it is drawn within a frame or a few. */
  add(text: string): void {
    this.#tail += text;
    if (this.#timer === undefined) this.#timer = setTimeout(() => { this.#draw(); }, this.#pause);
  }

  #draw(): void {
    const began = performance.now();
    this.#timer = undefined;
    const { closed, open } = split(this.#tail);
    for (const piece of closed) {
      const element = h("div");
      element.append(markdown(piece));
      this.#open.before(element);
    }
    this.#tail = open;
    this.#open.replaceChildren(markdown(open));
    this.#pause = Math.min(SLOWEST, (performance.now() - began) * SHARE);
  }
}
