/** Which commands the person has allowed, so that a terminal runs nothing that was never shown. */

import type { OptionKind } from "../state/model.ts";

/** What was allowed in each session: some commands once, some for as long as it lasts. */
export class Allowed {
  readonly #once = new Map<string, string[]>();
  readonly #always = new Map<string, Set<string>>();

  /** Takes note of an answer about a command. */
  note(sessionId: string, command: string, answer: OptionKind): void {
    if (answer === "allow_once") {
      const commands = this.#once.get(sessionId) ?? [];
      this.#once.set(sessionId, [...commands, command]);
    }
    if (answer === "allow_always") {
      const commands = this.#always.get(sessionId) ?? new Set();
      this.#always.set(sessionId, commands.add(command));
    }
  }

  /** Whether a command was allowed; what was allowed once is used up by it. */
  use(sessionId: string, command: string, args: readonly string[]): boolean {
    const forms = formsOf(command, args);
    if (forms.some((form) => this.#always.get(sessionId)?.has(form))) return true;
    const commands = this.#once.get(sessionId) ?? [];
    const index = commands.findIndex((each) => forms.includes(each));
    if (index < 0) return false;
    this.#once.set(sessionId, commands.toSpliced(index, 1));
    return true;
  }

  /** A session has ended. */
  forget(sessionId: string): void {
    this.#once.delete(sessionId);
    this.#always.delete(sessionId);
  }
}

/** A command as the question may have shown it: its words, or the line that a shell is given. */
function formsOf(command: string, args: readonly string[]): string[] {
  const line = shellLine(command, args);
  return [[command, ...args].join(" "), ...(line === undefined ? [] : [line])];
}

function shellLine(command: string, args: readonly string[]): string | undefined {
  const shell = /(^|[/\\])(ba|da|z|k)?sh(\.exe)?$/.test(command);
  const [flag, line] = args;
  return shell && args.length === 2 && flag !== undefined && /^-l?c$/.test(flag) ? line : undefined;
}
