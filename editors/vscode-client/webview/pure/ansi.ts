/** Colours of terminal output; everything else that a terminal would obey is left out. */

export interface Style {
  readonly classes: readonly string[];
  readonly color?: string;
  readonly background?: string;
}

export interface Span extends Style {
  readonly text: string;
}

const PLAIN: Style = { classes: [] };
const LONGEST_LINE = 5000;

// OSC and other strings end at BEL or ST; CSI at a letter; other escapes have one character.
const ESCAPES =
  /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|\u001b\[[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]|\u001b/g;
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Output as spans of one look each. */
export function spans(output: string): Span[] {
  const text = overwritten(output);
  const found: Span[] = [];
  let style = PLAIN;
  let at = 0;
  for (const match of text.matchAll(ESCAPES)) {
    add(found, text.slice(at, match.index), style);
    at = match.index + match[0].length;
    if (match[0].startsWith("\u001b[") && match[0].endsWith("m")) style = restyled(style, match[0].slice(2, -1));
  }
  add(found, text.slice(at), style);
  return found;
}

/** The text of output without any escapes. */
export function plainText(output: string): string {
  return spans(output)
    .map(({ text }) => text)
    .join("");
}

/** A progress bar rewrites its line: what stands last is what is shown. */
function overwritten(output: string): string {
  return output
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => short(line.replace(/\r+$/, "").split("\r").at(-1) ?? ""))
    .join("\n");
}

function short(line: string): string {
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)}…`;
}

function add(found: Span[], text: string, style: Style): void {
  const shown = text.replace(CONTROLS, "");
  if (shown) found.push({ ...style, text: shown });
}

function restyled(style: Style, codes: string): Style {
  const numbers = codes.split(/[;:]/).map(Number);
  let now = style;
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    if (code === 38 || code === 48) {
      const [color, used] = extended(numbers.slice(at + 1));
      now = { ...now, ...(color === undefined ? {} : code === 38 ? { color } : { background: color }) };
      at += used;
    } else now = simple(now, code);
  }
  return now;
}

const ATTRIBUTES: Readonly<Record<number, string>> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike" };
const ENDS: Readonly<Record<number, readonly string[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
};

function simple(style: Style, code: number): Style {
  const attribute = ATTRIBUTES[code];
  if (code === 0) return PLAIN;
  if (attribute) return { ...style, classes: [...style.classes.filter((each) => each !== attribute), attribute] };
  if (ENDS[code]) return { ...style, classes: style.classes.filter((each) => !ENDS[code]?.includes(each)) };
  return colored(style, code);
}

function colored(style: Style, code: number): Style {
  const ground = (code >= 40 && code <= 49) || (code >= 100 && code <= 107) ? "bg" : "fg";
  const base = without(style, ground === "fg" ? "color" : "background");
  const classes = style.classes.filter((each) => !each.startsWith(ground));
  if (code === 39 || code === 49) return { ...base, classes };
  const index = paletteIndex(code);
  return index === undefined ? style : { ...base, classes: [...classes, `${ground}${index}`] };
}

function without(style: Style, ground: "color" | "background"): Style {
  const { [ground]: _, ...rest } = style;
  return rest;
}

function paletteIndex(code: number): number | undefined {
  if (code >= 30 && code <= 37) return code - 30;
  if (code >= 40 && code <= 47) return code - 40;
  if (code >= 90 && code <= 97) return code - 82;
  return code >= 100 && code <= 107 ? code - 92 : undefined;
}

/** A colour of 256 or of 16 million, and how many numbers it took. */
function extended(rest: readonly number[]): [string | undefined, number] {
  const [kind, first = 0, second = 0, third = 0] = rest;
  if (kind === 2) return [`rgb(${byte(first)}, ${byte(second)}, ${byte(third)})`, 4];
  if (kind === 5) return [cube(byte(first)), 2];
  return [undefined, rest.length];
}

function cube(index: number): string {
  if (index < 16) return `var(--ansi${index})`;
  if (index >= 232) return `rgb(${grey(index)}, ${grey(index)}, ${grey(index)})`;
  const at = index - 16;
  const [red, green, blue] = [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => (step ? step * 40 + 55 : 0));
  return `rgb(${red ?? 0}, ${green ?? 0}, ${blue ?? 0})`;
}

function grey(index: number): number {
  return (index - 232) * 10 + 8;
}

function byte(value: number): number {
  return Number.isFinite(value) ? Math.min(255, Math.max(0, Math.trunc(value))) : 0;
}
