/** Elements, made without HTML: attributes and text are never parsed. */

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;
type Child = Node | string | false | undefined;

/** An element with attributes and children; `class` and `aria-*` are attributes like any other. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== false && child !== undefined));
  return element;
}

/** A button with a name; `title` too, where the name cannot be seen. */
export function button(label: string, press: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = h("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", press);
  return element;
}
