/** Text that is nothing but one fenced block. */

/** What stands in the fence; undefined when the text is more, or something else. */
export function unfenced(text: string): string | undefined {
  const lines = text.trim().split("\n");
  const [, fence] = /^(`{3,}|~{3,})[^`]*$/.exec(lines[0] ?? "") ?? [];
  if (fence === undefined || lines.length < 2) return undefined;
  // A fence is closed by the first line that is as long as it, so that only the last one may be.
  const closing = lines.findIndex((line, at) => at > 0 && line.startsWith(fence) && line.trim() === (fence[0] ?? "").repeat(line.trim().length));
  return closing === lines.length - 1 ? lines.slice(1, -1).join("\n") : undefined;
}
