/** Markdown as it streams: what cannot change any more, and the end that still grows. */

/** Characters after which a paragraph without end is cut at a line all the same. */
const LONGEST_OPEN = 20_000;

export interface Split {
  /** Whole pieces, each with its line ends. */
  readonly closed: readonly string[];
  /** What may still change its meaning. */
  readonly open: string;
}

/**
 * Splits text at blank lines outside of fences, where the next line begins a block of its own.
 *
 * A piece ends only before a line that cannot continue a list, so that loose lists stay whole.
 */
export function split(text: string): Split {
  const closed: string[] = [];
  let from = 0;
  let fence = "";
  let blank = false;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline + 1;
    const line = text.slice(at, end);
    if (fence === "" && at > from && begins(line, blank, at - from) && newline >= 0) {
      closed.push(text.slice(from, at));
      from = at;
    }
    fence = fenceAfter(fence, line);
    blank = line.trim() === "";
    at = end;
  }
  return { closed, open: text.slice(from) };
}

function begins(line: string, afterBlank: boolean, size: number): boolean {
  if (!afterBlank) return size > LONGEST_OPEN;
  return /^[^\s*+\-\d]/.test(line) || size > LONGEST_OPEN;
}

function fenceAfter(open: string, line: string): string {
  const [, mark = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)/.exec(line) ?? [];
  if (mark === "") return open;
  if (open === "") return mark.startsWith("`") && rest.includes("`") ? "" : mark;
  const closes = mark.startsWith(open[0] ?? "") && mark.length >= open.length && rest.trim() === "";
  return closes ? "" : open;
}
