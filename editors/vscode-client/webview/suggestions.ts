/** What could complete the word at the caret: a list below the prompt that keys go through. */

import type { CommandView } from "../src/state/model.ts";
import { h } from "./h.ts";
import { tell } from "./host.ts";
import { completed, type Typing, typing } from "./pure/completion.ts";

interface Suggestion {
  readonly value: string;
  readonly description: string;
}

const MOST = 12;

export class Suggestions {
  readonly element = h("ul", { class: "suggestions", id: "suggestions", role: "listbox", "aria-label": "Suggestions" });
  readonly #input: HTMLTextAreaElement;
  #commands: readonly CommandView[] = [];
  #typing: Typing | undefined;
  #found: readonly Suggestion[] = [];
  #at = 0;

  constructor(input: HTMLTextAreaElement) {
    this.#input = input;
    this.element.hidden = true;
    for (const [name, value] of Object.entries({ "aria-autocomplete": "list", "aria-controls": "suggestions", "aria-haspopup": "listbox" })) {
      input.setAttribute(name, value);
    }
    // A press of the mouse would take the focus before it is a click.
    this.element.addEventListener("mousedown", (event) => { event.preventDefault(); });
  }

  set commands(commands: readonly CommandView[]) {
    this.#commands = commands;
  }

  /** Looks at what is being typed. */
  look(): void {
    this.#typing = typing(this.#input.value, this.#input.selectionStart);
    if (!this.#typing) this.#show([]);
    else if (this.#typing.kind === "command") this.#show(this.#matching(this.#typing.query));
    else tell({ type: "findFiles", query: this.#typing.query });
  }

  /** The files that were found, if they are still what is asked for. */
  files(query: string, files: readonly string[]): void {
    if (this.#typing?.kind !== "file" || this.#typing.query !== query) return;
    this.#show(files.map((value) => ({ value, description: "" })));
  }

  /** Takes a key; whether it was for the list. */
  key(event: KeyboardEvent): boolean {
    if (this.element.hidden) return false;
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) this.#mark(this.#at + step);
    else if (event.key === "Enter" || event.key === "Tab") this.#take(this.#at);
    else if (event.key === "Escape") this.#show([]);
    else return false;
    return true;
  }

  hide(): void {
    this.#show([]);
  }

  #matching(query: string): Suggestion[] {
    const commands = this.#commands.filter((command) => command.name.startsWith(query));
    return commands.map(({ name, description, hint }) => ({ value: name, description: hint ? `${hint} — ${description}` : description }));
  }

  #show(found: readonly Suggestion[]): void {
    this.#found = found.slice(0, MOST);
    this.element.hidden = this.#found.length === 0;
    this.element.replaceChildren(...this.#found.map((each, at) => this.#option(each, at)));
    this.#mark(0);
  }

  #option(suggestion: Suggestion, at: number): HTMLElement {
    const sign = this.#typing?.kind === "command" ? "/" : "";
    const element = h("li", { role: "option", id: `suggestion-${at}` }, h("span", {}, sign + suggestion.value), h("span", { class: "hint" }, suggestion.description));
    element.addEventListener("click", () => { this.#take(at); });
    return element;
  }

  #mark(at: number): void {
    const count = this.#found.length;
    this.#at = count ? (at + count) % count : 0;
    [...this.element.children].forEach((child, index) => { child.setAttribute("aria-selected", String(index === this.#at)); });
    if (count) this.#input.setAttribute("aria-activedescendant", `suggestion-${this.#at}`);
    else this.#input.removeAttribute("aria-activedescendant");
    this.element.children[this.#at]?.scrollIntoView({ block: "nearest" });
  }

  #take(at: number): void {
    const suggestion = this.#found[at];
    if (!suggestion || !this.#typing) return;
    const after = completed(this.#input.value, this.#input.selectionStart, this.#typing, suggestion.value);
    this.#input.value = after.text;
    this.#input.setSelectionRange(after.caret, after.caret);
    this.#input.dispatchEvent(new Event("input"));
    this.#show([]);
  }
}
