/** Where a prompt is written: with what goes along, what waits before it, and the pickers. */

import type { Attachment, Frame, Image } from "../src/chat/protocol.ts";
import type { Queued } from "../src/state/model.ts";
import { button, h } from "./h.ts";
import { draft, keepDraft, tell } from "./host.ts";
import { Images } from "./images.ts";
import { pickersView } from "./pickers.ts";
import { count, money } from "./pure/words.ts";
import { Suggestions } from "./suggestions.ts";

export class Composer {
  readonly element: HTMLElement;
  readonly #input = h("textarea", { rows: 3, "aria-label": "Prompt", placeholder: "Ask, or type / for commands and @ for files" });
  readonly #images: Images;
  readonly #suggestions = new Suggestions(this.#input);
  readonly #above = h("div", { class: "above" });
  readonly #below = h("div", { class: "below" });
  readonly #withSelection = h("input", { type: "checkbox", id: "selection" });
  #frame: Frame | undefined;

  constructor(announce: (text: string) => void) {
    this.#images = new Images(announce);
    this.#withSelection.checked = true;
    this.#input.value = draft();
    this.element = h("footer", { class: "composer" }, this.#above, this.#images.element, this.#suggestions.element, this.#input, this.#below);
    this.#listen();
  }

  /** Draws what stands around the prompt; what is written in it stays. */
  show(frame: Frame): void {
    this.#frame = frame;
    this.#suggestions.commands = frame.commands;
    const focused = focusKey(this.element);
    this.#above.replaceChildren(...waiting(frame.queue), ...this.#attachments(frame));
    this.#below.replaceChildren(pickersView(frame.options), foot(frame, () => { this.#send(); }));
    if (focused !== undefined) this.element.querySelector<HTMLElement>(`[data-focus="${CSS.escape(focused)}"], [data-option="${CSS.escape(focused)}"]`)?.focus();
  }

  files(query: string, files: readonly string[]): void {
    this.#suggestions.files(query, files);
  }

  /** Puts a prompt back that could not be sent, or was taken out of the queue. */
  putBack(text: string, images: readonly Image[]): void {
    this.#images.putBack(images);
    this.#input.value = [text, this.#input.value].filter(Boolean).join("\n");
    keepDraft(this.#input.value);
    this.focus();
  }

  focus(): void {
    this.#input.focus();
  }

  #listen(): void {
    this.#input.addEventListener("input", () => {
      keepDraft(this.#input.value);
      this.#suggestions.look();
    });
    this.#input.addEventListener("keydown", (event) => { this.#key(event); });
    this.#input.addEventListener("blur", () => { this.#suggestions.hide(); });
    this.#input.addEventListener("paste", (event) => { this.#takeImages(event, event.clipboardData); });
    document.addEventListener("dragover", (event) => { event.preventDefault(); });
    document.addEventListener("drop", (event) => { this.#takeImages(event, event.dataTransfer); });
  }

  #takeImages(event: Event, data: DataTransfer | null): void {
    const files = droppedFiles(data);
    if (this.#images.take(data, this.#frame?.images ?? false) || event.type === "drop") event.preventDefault();
    if (event.type !== "drop" || !files.length) return;
    const { selectionStart, selectionEnd } = this.#input;
    this.#input.setRangeText(files.map((file) => `@"${file}" `).join(""), selectionStart, selectionEnd, "end");
    keepDraft(this.#input.value);
  }

  #key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (this.#suggestions.key(event)) event.preventDefault();
    else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.#send();
    } else if (event.key === "Escape" && this.#frame?.phase === "running") tell({ type: "stop" });
  }

  #send(): void {
    const text = this.#input.value;
    const images = this.#images.send();
    const attached = this.#frame?.attachments.length ?? 0;
    if (!text.trim() && !images.length && !attached) return;
    tell({ type: "send", text, images, selection: this.#withSelection.checked && this.#frame?.selection !== undefined });
    this.#input.value = "";
    keepDraft("");
  }

  #attachments(frame: Frame): HTMLElement[] {
    const chips = frame.attachments.map(chip);
    if (frame.selection !== undefined) {
      chips.push(h("span", { class: "chip" }, this.#withSelection, h("label", { for: "selection" }, `Selection ${frame.selection}`)));
    }
    return chips.length ? [h("div", { class: "chips", role: "group", "aria-label": "Goes with the prompt" }, ...chips)] : [];
  }
}

function waiting(queue: readonly Queued[]): HTMLElement[] {
  if (!queue.length) return [];
  const rows = queue.map(({ id, text }) =>
    h("li", {}, h("span", {}, text), button("×", () => { tell({ type: "unqueue", id }); }, { class: "icon", "aria-label": `Take back: ${text.slice(0, 60)}` })),
  );
  return [h("ol", { class: "queue", "aria-label": "Prompts that wait" }, ...rows)];
}

function chip(attachment: Attachment): HTMLElement {
  const remove = button("×", () => { tell({ type: "detach", id: attachment.id }); }, { class: "icon", "aria-label": `Remove ${attachment.label}` });
  return h("span", { class: "chip" }, attachment.label, remove);
}

function foot(frame: Frame, send: () => void): HTMLElement {
  const running = frame.phase === "running";
  const stop = running && button("Stop", () => { tell({ type: "stop" }); }, { class: "secondary stop", "data-focus": "stop", title: "Stop (Escape)" });
  const undo = frame.canUndo && frame.phase === "idle" && button("Undo Turn", () => { tell({ type: "undo" }); }, { class: "secondary", "data-focus": "undo", title: "Restore the files as they were before the last turn" });
  const go = button(running ? "Queue" : "Send", send, { class: "primary send", "data-focus": "send" });
  return h("div", { class: "foot" }, usage(frame), h("span", { class: "space" }), undo, stop, go);
}

function usage(frame: Frame): HTMLElement | undefined {
  if (!frame.usage) return undefined;
  const { used, size, cost } = frame.usage;
  const text = `${count(used)} of ${count(size)}${cost ? ` · ${money(cost.amount, cost.currency)}` : ""}`;
  return h("span", { class: "usage", title: `${used} of ${size} tokens of the context are used` }, text);
}

/** Files that were dropped from the editor's lists come as addresses. */
function droppedFiles(data: DataTransfer | null): string[] {
  const list = data?.getData("text/uri-list") ?? "";
  const lines = list.split(/\r?\n/).filter((line) => line.startsWith("file://"));
  return lines.map((line) => decodeURIComponent(new URL(line).pathname));
}

function focusKey(root: HTMLElement): string | undefined {
  const active = document.activeElement;
  if (!(active instanceof HTMLElement) || !root.contains(active)) return undefined;
  return active.dataset["focus"] ?? active.dataset["option"];
}
