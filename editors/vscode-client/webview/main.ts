/** The page of the chat: draws what the extension tells, and tells what the person does. */

import type { Frame, ToWebview } from "../src/chat/protocol.ts";
import { Composer } from "./composer.ts";
import { Conversation } from "./conversation.ts";
import { problemView, tabsView } from "./header.ts";
import { h } from "./h.ts";
import { History } from "./history.ts";
import { tell } from "./host.ts";

const live = h("div", { class: "live", role: "status", "aria-live": "polite" });
const announce = (text: string): void => { live.replaceChildren(text); };
const conversation = new Conversation(announce);
const composer = new Composer(announce);
const history = new History();
const top = h("div", { class: "top" });
const status = h("p", { class: "status" });
const welcome = h("div", { class: "welcome" });
let phase: Frame["phase"] = "none";

document.body.append(top, h("main", {}, conversation.element, welcome, status), composer.element, live, history.element);
window.addEventListener("message", (event: MessageEvent<ToWebview>) => { take(event.data); });
tell({ type: "ready" });

function take(message: ToWebview): void {
  switch (message.type) {
    case "frame":
      showFrame(message.frame);
      break;
    case "reset":
      conversation.reset(message.dropped);
      break;
    case "patch":
      conversation.apply(message.patches);
      break;
    case "terminal":
      conversation.terminal(message.id, message.view);
      break;
    case "history":
      history.show(message.sessions, message.next);
      break;
    case "files":
      composer.files(message.query, message.files);
      break;
    case "draft":
      composer.putBack(message.text, message.images);
      break;
    case "focus":
      focus(message.where);
  }
}

function showFrame(frame: Frame): void {
  const focusedTab = document.activeElement instanceof HTMLElement && document.activeElement.dataset["tab"] !== undefined;
  const problem = problemView(frame);
  top.replaceChildren(tabsView(frame), ...(problem ? [problem] : []));
  if (focusedTab) top.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
  const words = statusOf(frame);
  status.replaceChildren(words);
  status.title = words;
  welcome.replaceChildren(...(frame.agent !== undefined && !problem && frame.phase !== "loading" ? welcomeView(frame) : []));
  composer.show(frame);
  if (phase === "running" && frame.phase === "idle") announce("The turn has ended.");
  if (phase !== "running" && frame.phase === "running") announce("The agent works.");
  phase = frame.phase;
}

/** What an empty conversation says; the style shows it only beside one. */
function welcomeView(frame: Frame): HTMLElement[] {
  const where = frame.folder ? ` in ${frame.folder}` : "";
  return [
    h("h2", {}, `${frame.agent ?? ""}${where}`),
    h("p", {}, "Ask for a change, or for a look at something. You see each step, and are asked before files change or commands run."),
    h("ul", {},
      h("li", {}, h("kbd", {}, "/"), " the agent's commands"),
      h("li", {}, h("kbd", {}, "@"), " a file of this folder"),
      h("li", {}, "Paste or drop a picture, or send a selection from the editor's menu"),
    ),
  ];
}

function statusOf(frame: Frame): string {
  if (frame.tabs.some((tab) => tab.id === frame.active && tab.asks)) return "Waits for your answer";
  if (frame.phase === "loading") return "Loading the session…";
  if (frame.phase === "running") return frame.status || "Working…";
  return frame.agent === undefined && !frame.problem ? "Starting the agent…" : "";
}

function focus(where: "prompt" | "question" | "history"): void {
  if (where === "history") history.open();
  else if (where === "prompt" || !conversation.focusQuestion()) composer.focus();
}
