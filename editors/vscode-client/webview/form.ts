/** A form that the agent wants filled, and a page that it wants opened. */

import { known, problems, type Values } from "../src/state/elicitation.ts";
import type { Field, Form, Page } from "../src/state/model.ts";
import { button, h } from "./h.ts";
import { tell } from "./host.ts";

type Value = string | number | boolean | string[];

interface Control {
  readonly element: HTMLElement;
  read(): Value | undefined;
}

export function formView(form: Form): HTMLElement {
  const title = h("p", { class: "message" }, form.message);
  if (form.outcome !== undefined) return closed("Form", title, form.outcome);
  const controls = form.fields.map((field) => control(field, `${form.questionId}-${field.name}`));
  const errors = form.fields.map((field) => h("p", { class: "error", id: `${form.questionId}-${field.name}-error`, role: "alert" }));
  const submit = (): void => { send(form, controls, errors); };
  const box = question(form.questionId, "Form", title);
  box.append(
    ...form.fields.map((field, at) => row(field, controls[at]?.element, errors[at])),
    buttons(form.questionId, "Answer", submit),
  );
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement) submit();
    if (event.key === "Escape") elicited(form.questionId, "cancel");
  });
  return box;
}

/** The host stands first and large: it is what one judges a page by. */
export function pageView(page: Page): HTMLElement {
  const host = h("p", { class: "host" }, "Opens ", h("strong", {}, page.host));
  const address = h("p", { class: "address" }, page.url);
  const message = h("p", { class: "message" }, page.message);
  if (page.outcome !== undefined) return closed("Page to open", host, page.outcome);
  const box = question(page.questionId, "Page to open", host);
  box.append(message, address, buttons(page.questionId, "Open", () => { elicited(page.questionId, "accept"); }));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") elicited(page.questionId, "cancel");
  });
  return box;
}

function question(id: string, label: string, ...children: readonly HTMLElement[]): HTMLElement {
  return h("section", { class: "card asks form", tabindex: -1, "data-question": id, "aria-label": `Question: ${label}` }, ...children);
}

function closed(label: string, first: HTMLElement, outcome: string): HTMLElement {
  return h("section", { class: "card form", "aria-label": `${label}, ${outcome}` }, first, h("p", { class: "answer" }, outcome));
}

function buttons(id: string, accept: string, press: () => void): HTMLElement {
  return h(
    "div",
    { class: "buttons" },
    button(accept, press, { class: "primary" }),
    button("Decline", () => { elicited(id, "decline"); }, { class: "secondary" }),
  );
}

function send(form: Form, controls: readonly Control[], errors: readonly HTMLElement[]): void {
  const values: Record<string, Value> = {};
  form.fields.forEach((field, at) => {
    const value = controls[at]?.read();
    if (value !== undefined) values[field.name] = value;
  });
  const found = problems(form.fields, values);
  form.fields.forEach((field, at) => { errors[at]?.replaceChildren(found[field.name] ?? ""); });
  const first = form.fields.findIndex((field) => found[field.name]);
  if (first < 0) elicited(form.questionId, "accept", known(form.fields, values));
  else controls[first]?.element.focus();
}

function elicited(id: string, action: "accept" | "decline" | "cancel", values: Values = {}): void {
  tell({ type: "elicited", question: id, action, values });
}

function row(field: Field, element: HTMLElement | undefined, error: HTMLElement | undefined): HTMLElement {
  const hint = field.description && h("span", { class: "hint" }, field.description);
  const name = `${field.title}${field.required ? " (needed)" : ""}`;
  if (field.type === "choices") return h("fieldset", {}, h("legend", {}, name), hint || undefined, element, error);
  const label = h("label", { for: element?.id }, name);
  if (field.type === "boolean") return h("div", { class: "field check" }, element, label, hint || undefined, error);
  return h("div", { class: "field" }, label, hint || undefined, element, error);
}

function control(field: Field, id: string): Control {
  switch (field.type) {
    case "boolean":
      return flag(id, field.initial ?? false);
    case "choice":
      return choice(id, field);
    case "choices":
      return choices(id, field);
    case "number":
      return numeric(id, field);
    case "text":
      return textual(id, field);
  }
}

function flag(id: string, initial: boolean): Control {
  const element = h("input", { type: "checkbox", id });
  element.checked = initial;
  return { element, read: () => element.checked };
}

function choice(id: string, field: Extract<Field, { type: "choice" }>): Control {
  const options = field.choices.map(({ value, title }) => h("option", { value }, title));
  const element = h("select", { id }, h("option", { value: "" }, "—"), ...options);
  element.value = field.initial ?? "";
  return { element, read: () => element.value || undefined };
}

function choices(id: string, field: Extract<Field, { type: "choices" }>): Control {
  const boxes = field.choices.map(({ value }, at) => h("input", { type: "checkbox", id: `${id}-${at}`, value }));
  for (const box of boxes) box.checked = field.initial?.includes(box.value) ?? false;
  const rows = field.choices.map(({ title }, at) => h("div", { class: "check" }, boxes[at], h("label", { for: `${id}-${at}` }, title)));
  const element = h("div", { id, tabindex: -1 }, ...rows);
  const read = (): string[] | undefined => {
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    return chosen.length ? chosen : undefined;
  };
  return { element, read };
}

function numeric(id: string, field: Extract<Field, { type: "number" }>): Control {
  const element = h("input", { type: "number", id, min: field.minimum, max: field.maximum, step: field.integer ? 1 : "any", value: field.initial });
  return { element, read: () => (element.value.trim() === "" ? undefined : Number(element.value)) };
}

function textual(id: string, field: Extract<Field, { type: "text" }>): Control {
  const element = h("input", { type: "text", id, value: field.initial, maxlength: field.maxLength });
  return { element, read: () => element.value.trim() || undefined };
}
