/** The live output of the agent's terminals, for the cards that show them. */

import type { TerminalView } from "./model.ts";

/** Characters of output that are kept to be shown; the terminal itself has the rest. */
const MOST_SHOWN = 64_000;

/** The terminals with new output of one of them. */
export function withOutput(
  terminals: Readonly<Record<string, TerminalView>>,
  id: string,
  output: string,
  ended: string | undefined,
): Readonly<Record<string, TerminalView>> {
  const text = output.length <= MOST_SHOWN ? output : `… ${output.slice(-MOST_SHOWN)}`;
  return { ...terminals, [id]: { text, ...(ended === undefined ? {} : { ended }) } };
}
