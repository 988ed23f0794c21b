/** The one part in which two texts differ. */

export interface Part {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What to replace in `before` to get `after`; undefined when they are the same. */
export function changedPart(before: string, after: string): Part | undefined {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  start = outsidePair(before, start);
  let tail = 0;
  while (tail < shorter - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  tail = before.length - outsidePairEnd(before, before.length - tail);
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

/** A place before a surrogate pair or line end of two characters rather than within it. */
function outsidePair(text: string, at: number): number {
  return within(text, at) ? at - 1 : at;
}

function outsidePairEnd(text: string, at: number): number {
  return within(text, at) ? at + 1 : at;
}

function within(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return (before === 13 && after === 10) || ((before & 0xfc00) === 0xd800 && (after & 0xfc00) === 0xdc00);
}
