/** The tabs of the sessions, and what stands in the way of working. */

import type { Frame, Tab } from "../src/chat/protocol.ts";
import { button, h } from "./h.ts";
import { tell } from "./host.ts";

export function tabsView(frame: Frame): HTMLElement {
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Sessions" }, ...frame.tabs.map((tab) => tabView(tab, tab.id === frame.active)));
  list.addEventListener("keydown", (event) => { onKey(event, frame); });
  const closing = frame.active !== undefined && button("×", () => { close(frame.active); }, { class: "icon", "aria-label": "Close this session", title: "Close this session" });
  return h("nav", { class: "header", "aria-label": "Sessions" }, list, closing);
}

export function problemView(frame: Frame): HTMLElement | undefined {
  const { problem } = frame;
  if (!problem) return undefined;
  const buttons = problem.actions.map(({ id, title, hint }, at) =>
    button(title, () => { tell({ type: "problem", action: id }); }, { class: at === 0 ? "primary" : "secondary", title: hint }),
  );
  return h("section", { class: "problem", role: "alert", "aria-label": "Problem" }, h("p", {}, problem.text), h("div", { class: "buttons" }, ...buttons));
}

function tabView(tab: Tab, active: boolean): HTMLElement {
  const state = tab.asks ? "asks" : tab.running ? "running" : "";
  const sign = tab.asks ? "? " : tab.running ? "◐ " : "";
  return button(`${sign}${tab.title}`, () => { tell({ type: "select", session: tab.id }); }, {
    role: "tab",
    class: "tab",
    "aria-selected": active ? "true" : "false",
    tabindex: active ? 0 : -1,
    "aria-label": state ? `${tab.title}, ${state}` : tab.title,
    title: tab.title,
    "data-tab": tab.id,
  });
}

/** Arrow keys go from tab to tab, Delete closes one. */
function onKey(event: KeyboardEvent, frame: Frame): void {
  const at = frame.tabs.findIndex((tab) => tab.id === frame.active);
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  const next = frame.tabs[(at + step + frame.tabs.length) % frame.tabs.length];
  if (step !== 0 && next) tell({ type: "select", session: next.id });
  if (event.key === "Delete") close(frame.active);
}

function close(session: string | undefined): void {
  if (session !== undefined) tell({ type: "close", session });
}
