/** Markdown as elements: made of tokens one by one, so that no text of an agent is ever parsed as HTML. */

import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
import { button, h } from "./h.ts";
import { tell } from "./host.ts";

const parser = new MarkdownIt({ html: false, linkify: false, breaks: false });

const TAGS = new Set([
  ..."p h1 h2 h3 h4 h5 h6 ul ol li blockquote em strong s table thead tbody tr th td".split(" "),
]);

/** The elements of a piece of Markdown. */
export function markdown(text: string): DocumentFragment {
  const root = document.createDocumentFragment();
  fill(root, parser.parse(text, {}));
  return root;
}

function fill(root: Node, tokens: readonly Token[]): void {
  const open: Node[] = [root];
  for (const token of tokens) {
    const parent = open.at(-1) ?? root;
    if (token.nesting === 1) {
      const element = container(token);
      parent.appendChild(element);
      open.push(element);
    } else if (token.nesting === -1) open.pop();
    else leaf(parent, token);
  }
}

function container(token: Token): Node {
  if (token.hidden) return hiddenContainer();
  if (token.type === "link_open") return link(String(token.attrGet("href") ?? ""));
  const element = document.createElement(TAGS.has(token.tag) ? token.tag : "span");
  const start = Number(token.attrGet("start"));
  if (token.tag === "ol" && Number.isInteger(start) && start > 1) element.setAttribute("start", String(start));
  return element;
}

/** The paragraph of a tight list is none. */
function hiddenContainer(): Node {
  return h("span");
}

function leaf(parent: Node, token: Token): void {
  switch (token.type) {
    case "inline":
      fill(parent, token.children ?? []);
      break;
    case "fence":
    case "code_block":
      parent.appendChild(codeBlock(token.content, token.info.trim().split(/\s+/)[0] ?? ""));
      break;
    case "code_inline":
      parent.appendChild(h("code", {}, token.content));
      break;
    case "softbreak":
      parent.appendChild(document.createTextNode("\n"));
      break;
    case "hardbreak":
      parent.appendChild(h("br"));
      break;
    case "hr":
      parent.appendChild(h("hr"));
      break;
    case "image":
      // A picture from elsewhere would tell its server that it was looked at.
      parent.appendChild(link(String(token.attrGet("src") ?? ""), token.content || "image"));
      break;
    default:
      parent.appendChild(document.createTextNode(token.content));
  }
}

/** A link that tells the extension where it leads; the browser follows none. */
function link(href: string, text?: string): HTMLElement {
  const element = h("a", { href: "#", title: href, role: "link" }, text);
  element.addEventListener("click", (event) => {
    event.preventDefault();
    tell({ type: "openLink", href });
  });
  return element;
}

function codeBlock(content: string, language: string): HTMLElement {
  const tools = h(
    "div",
    { class: "code-tools" },
    h("span", { class: "language" }, language),
    button("Copy", () => { tell({ type: "copy", text: content }); }, { "aria-label": "Copy the code" }),
    button("Insert", () => { tell({ type: "insert", text: content }); }, { "aria-label": "Insert the code at the cursor" }),
  );
  const label = language ? `Code, ${language}` : "Code";
  return h("div", { class: "code" }, tools, h("pre", { tabindex: 0, role: "region", "aria-label": label }, h("code", {}, content)));
}
