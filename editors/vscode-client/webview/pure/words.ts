/** Numbers and times as people read them. */

/** Tokens, such as `12k`. */
export function count(tokens: number): string {
  if (tokens < 1000) return String(Math.round(tokens));
  if (tokens < 1_000_000) return `${trimmed(tokens / 1000)}k`;
  return `${trimmed(tokens / 1_000_000)}M`;
}

/** A cost; small ones keep enough digits to say something. */
export function money(amount: number, currency: string): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.1 ? 4 : 2;
  const sign = currency === "USD" ? "$" : "";
  return sign ? `${sign}${amount.toFixed(digits)}` : `${amount.toFixed(digits)} ${currency}`;
}

/** A span of milliseconds, such as `3 s` or `2 min 5 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 1) return "less than 1 s";
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** How long ago, such as `5 min ago`. */
export function ago(iso: string, now: number): string {
  const then = Date.parse(iso);
  if (Number.isNaN(then)) return "";
  const minutes = Math.max(0, Math.floor((now - then) / 60_000));
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 60 * 24) return `${Math.floor(minutes / 60)} h ago`;
  return new Date(then).toISOString().slice(0, 10);
}

function trimmed(value: number): string {
  return value < 10 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}
