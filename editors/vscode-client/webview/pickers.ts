/** The pickers that the agent offers: mode, model, thought level and others. */

import type { OptionValue, OptionView } from "../src/state/model.ts";
import { h } from "./h.ts";
import { tell } from "./host.ts";

export function pickersView(options: readonly OptionView[]): HTMLElement {
  return h("div", { class: "pickers", role: "group", "aria-label": "Settings of the session" }, ...options.map(picker));
}

function picker(option: OptionView): HTMLElement {
  return option.type === "boolean" ? flag(option) : select(option);
}

function flag(option: Extract<OptionView, { type: "boolean" }>): HTMLElement {
  const box = h("input", { type: "checkbox" });
  box.checked = option.value;
  box.addEventListener("change", () => { tell({ type: "setOption", id: option.id, value: box.checked }); });
  return h("label", { class: "check" }, box, option.name);
}

function select(option: Extract<OptionView, { type: "select" }>): HTMLElement {
  const element = h("select", { "aria-label": option.name, title: option.name, "data-option": option.id }, ...grouped(option.values));
  element.value = option.value;
  element.addEventListener("change", () => { tell({ type: "setOption", id: option.id, value: element.value }); });
  return element;
}

function grouped(values: readonly OptionValue[]): HTMLElement[] {
  const groups = new Map<string, HTMLElement>();
  const top: HTMLElement[] = [];
  for (const each of values) {
    const option = h("option", { value: each.value, title: each.description }, each.name);
    if (each.group === undefined) {
      top.push(option);
      continue;
    }
    const group = groups.get(each.group) ?? h("optgroup", { label: each.group });
    if (!groups.has(each.group)) top.push(group);
    groups.set(each.group, group);
    group.append(option);
  }
  return top;
}
