/** What is being typed at the caret: a command, or the name of a file. */

export interface Typing {
  readonly kind: "command" | "file";
  /** What stands behind the sign. */
  readonly query: string;
  /** Where the sign stands. */
  readonly from: number;
}

/** The command or file name that the caret stands in. */
export function typing(text: string, caret: number): Typing | undefined {
  const before = text.slice(0, caret);
  const command = /^\/([\w:-]*)$/.exec(before);
  if (command) return { kind: "command", query: command[1] ?? "", from: 0 };
  const file = /(?:^|\s)@([^\s"@]*)$/.exec(before);
  if (!file) return undefined;
  const query = file[1] ?? "";
  return { kind: "file", query, from: caret - query.length - 1 };
}

/** The text and caret after a completion was taken. */
export function completed(text: string, caret: number, at: Typing, value: string): { text: string; caret: number } {
  const name = at.kind === "command" ? `/${value}` : /\s/.test(value) ? `@"${value}"` : `@${value}`;
  const head = `${text.slice(0, at.from)}${name} `;
  return { text: head + text.slice(caret).replace(/^ /, ""), caret: head.length };
}
