/** Output of a command, in its colours. */

import { h } from "./h.ts";
import { type Span, spans } from "./pure/ansi.ts";

/** Shows the output in an element that may show an older one. */
export function drawOutput(element: HTMLElement, output: string): void {
  const atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 8;
  element.replaceChildren(...spans(output).map(node));
  if (atEnd) element.scrollTop = element.scrollHeight;
}

/** A box for output; one can reach it with keys and scroll it. */
export function outputBox(label: string): HTMLElement {
  return h("pre", { class: "output", tabindex: 0, role: "region", "aria-label": label });
}

function node(span: Span): Node {
  if (span.classes.length === 0 && span.color === undefined && span.background === undefined) {
    return document.createTextNode(span.text);
  }
  const element = h("span", { class: span.classes.map((each) => `ansi-${each}`).join(" ") || undefined }, span.text);
  if (span.color !== undefined) element.style.color = span.color;
  if (span.background !== undefined) element.style.backgroundColor = span.background;
  return element;
}
