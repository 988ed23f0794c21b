/** The question of a card: what will happen exactly, and a key for each answer. */

import type { CardView } from "../src/chat/protocol.ts";
import type { Choice, Permission } from "../src/state/model.ts";
import { button, h } from "./h.ts";
import { tell } from "./host.ts";

/** A file of the question, and whether it is wanted. */
export interface FileChoice {
  readonly name: string;
  readonly box: HTMLInputElement;
}

export function permissionView(card: CardView, permission: Permission, files: readonly FileChoice[]): HTMLElement {
  const { questionId, choices } = permission;
  const answer = (choice: Choice): void => { choose(questionId, choice, files); };
  const buttons = choices.map((choice, index) => choiceButton(choice, index, () => { answer(choice); }));
  const comment = commentBox(questionId);
  const group = h(
    "div",
    { class: "permission", role: "group", tabindex: -1, "data-question": questionId, "aria-label": `Question: ${card.title}` },
    h("div", { class: "buttons" }, ...buttons),
    comment,
  );
  group.addEventListener("keydown", (event) => { onKey(event, questionId, choices, answer); });
  return group;
}

/** The box that wants or does not want a file of several. */
export function fileChoice(name: string): FileChoice {
  const box = h("input", { type: "checkbox", "aria-label": `Accept ${name}` });
  box.checked = true;
  return { name, box };
}

/** The keys: a digit for each answer, Escape to reject. */
function onKey(event: KeyboardEvent, questionId: string, choices: readonly Choice[], answer: (choice: Choice) => void): void {
  const typing = event.target instanceof HTMLInputElement && event.target.type === "text";
  if (event.key === "Escape") {
    event.preventDefault();
    tell({ type: "dismiss", question: questionId });
  }
  const choice = typing || event.ctrlKey || event.altKey || event.metaKey ? undefined : choices[Number(event.key) - 1];
  if (!choice) return;
  event.preventDefault();
  answer(choice);
}

/** Allowing some of several files is a rejection that says which ones are wanted: the protocol has no half of a yes. */
function choose(question: string, choice: Choice, files: readonly FileChoice[]): void {
  const unwanted = files.filter(({ box }) => !box.checked).map(({ name }) => name);
  if (unwanted.length === 0 || choice.kind.startsWith("reject")) {
    tell({ type: "answer", question, option: choice.id });
    return;
  }
  const wanted = files.filter(({ box }) => box.checked).map(({ name }) => name);
  const wish = wanted.length ? `Make the change to ${wanted.join(", ")} as proposed, but do not change` : "Do not change";
  tell({ type: "reject", question, comment: `${wish} ${unwanted.join(", ")}.` });
}

function choiceButton(choice: Choice, index: number, press: () => void): HTMLButtonElement {
  const look = choice.kind.startsWith("allow") ? (choice.kind === "allow_once" ? "primary" : "secondary") : "secondary";
  const made = button(choice.name, press, { class: look, "aria-keyshortcuts": index + 1 });
  if (index < 9) made.append(h("kbd", { "aria-hidden": "true" }, String(index + 1)));
  return made;
}

function commentBox(question: string): HTMLElement {
  const input = h("input", { type: "text", placeholder: "Reject, and say why…", "aria-label": "Reject with a comment" });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !input.value.trim()) return;
    event.preventDefault();
    tell({ type: "reject", question, comment: input.value });
  });
  return h("div", { class: "comment" }, input);
}
