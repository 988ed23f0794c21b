/** An entry of the conversation as an element. */

import type { CardView, EntryView } from "../src/chat/protocol.ts";
import type { PlanEntry, ThoughtEntry, UserEntry } from "../src/state/model.ts";
import { cardView, type TerminalBoxes } from "./card.ts";
import { formView, pageView } from "./form.ts";
import { button, h } from "./h.ts";
import { tell } from "./host.ts";
import { duration } from "./pure/words.ts";
import { StreamedMarkdown } from "./stream.ts";

/** An entry on the page; text of the agent can grow in place. */
export interface Drawn {
  readonly element: HTMLElement;
  readonly stream?: StreamedMarkdown;
  readonly kind: EntryView["kind"];
}

export function draw(entry: EntryView, boxes: TerminalBoxes, before: Drawn | undefined): Drawn {
  switch (entry.kind) {
    case "agent":
      return streamed(entry.kind, entry.text, (element) => h("section", { class: "agent", "aria-label": "Answer" }, element));
    case "thought":
      return streamed(entry.kind, entry.text, (element) => thought(entry, element, before));
    case "user":
      return { kind: entry.kind, element: user(entry) };
    case "plan":
      return { kind: entry.kind, element: plan(entry) };
    case "notice":
      return { kind: entry.kind, element: h("p", { class: `notice ${entry.severity}`, role: entry.severity === "error" ? "alert" : "status" }, entry.text) };
    case "card":
      return { kind: entry.kind, element: cardView(entry, boxes, foldedBefore(entry, before)) };
    case "form":
      return { kind: entry.kind, element: formView(entry) };
    case "page":
      return { kind: entry.kind, element: pageView(entry) };
  }
}

/** What the person has folded stays so when the card changes. */
function foldedBefore(card: CardView, before: Drawn | undefined): boolean | undefined {
  const details = before?.element.querySelector("details");
  return details?.dataset["touched"] && !card.permission ? !details.open : undefined;
}

function streamed(kind: "agent" | "thought", text: string, wrap: (element: HTMLElement) => HTMLElement): Drawn {
  const stream = new StreamedMarkdown(text);
  return { kind, stream, element: wrap(stream.element) };
}

function thought(entry: ThoughtEntry, text: HTMLElement, before: Drawn | undefined): HTMLElement {
  const title = entry.began === undefined ? "Thought" : entry.ended === undefined ? "Thinking…" : `Thought for ${duration(entry.ended - entry.began)}`;
  const details = h("details", { class: "thought" }, h("summary", {}, title), text);
  details.open = before?.element instanceof HTMLDetailsElement && before.element.open;
  return details;
}

function user(entry: UserEntry): HTMLElement {
  const links = entry.links.map(({ name, uri }) => button(name, () => { tell({ type: "openLink", href: uri }); }, { class: "link" }));
  const pictures = entry.pictures.map(({ mimeType, data }) => h("img", { src: `data:${mimeType};base64,${data}`, alt: "Attached image" }));
  return h("section", { class: "user", "aria-label": "You" }, h("div", { class: "said" }, entry.text), ...links, ...pictures);
}

const STEPS = { pending: ["○", "to do"], in_progress: ["◐", "in progress"], completed: ["✓", "done"] } as const;

function plan(entry: PlanEntry): HTMLElement {
  const done = entry.steps.filter((step) => step.status === "completed").length;
  const steps = entry.steps.map(({ text, status }) => {
    const [sign, word] = STEPS[status];
    return h("li", { class: status }, h("span", { class: "sign", role: "img", "aria-label": word }, sign), h("span", {}, text));
  });
  return h("section", { class: "plan", "aria-label": "Plan" }, h("h2", {}, `Plan, ${done} of ${entry.steps.length} done`), h("ol", {}, ...steps));
}
