/** The sessions of the past: to load again, or to delete. */

import type { PastSession } from "../src/chat/protocol.ts";
import { button, h } from "./h.ts";
import { tell } from "./host.ts";
import { ago } from "./pure/words.ts";

export class History {
  readonly element = h("dialog", { class: "history", "aria-label": "Session history" });
  readonly #list = h("ul", {});
  readonly #more = h("div", {});

  constructor() {
    const close = button("Close", () => { this.element.close(); }, { class: "secondary" });
    this.element.append(h("h2", {}, "Sessions"), this.#list, this.#more, close);
  }

  /** Opens it; the list comes a moment later. */
  open(): void {
    this.#list.replaceChildren(h("li", {}, "Looking…"));
    this.#more.replaceChildren();
    if (!this.element.open) this.element.showModal();
    tell({ type: "history" });
  }

  show(sessions: readonly PastSession[], next: string | undefined): void {
    const rows = sessions.map((session) => this.#row(session));
    const fresh = this.#more.childElementCount === 0;
    if (!fresh) this.#list.append(...rows);
    else this.#list.replaceChildren(...(rows.length ? rows : [h("li", {}, "No sessions yet.")]));
    const more = next !== undefined && button("More", () => { tell({ type: "history", cursor: next }); }, { class: "secondary" });
    this.#more.replaceChildren(...(more ? [more] : []));
    if (fresh) this.#list.querySelector("button")?.focus();
  }

  #row(session: PastSession): HTMLElement {
    const title = session.title || "Without a title";
    const load = button(title, () => {
      this.element.close();
      tell({ type: "load", session: session.id, cwd: session.cwd, title: session.title });
    }, { class: "link load", title });
    const remove = button("Delete", () => { tell({ type: "delete", session: session.id, title }); }, { "aria-label": `Delete ${title}` });
    return h("li", {}, load, h("span", { class: "when" }, ago(session.updated, Date.now())), remove);
  }
}
