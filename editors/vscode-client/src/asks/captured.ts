/** The output of a command, kept up to a number of bytes: the end is kept, as the protocol says. */

import { StringDecoder } from "node:string_decoder";

export class Captured {
  readonly #limit: number;
  readonly #decoder = new StringDecoder("utf8");
  #text = "";
  truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes bytes, and returns the text that they completed. */
  add(data: Buffer): string {
    const text = this.#decoder.write(data);
    this.#text += text;
    // Cutting at twice the limit makes the cost of it constant a byte.
    if (this.#text.length > 2 * this.#limit) this.#cut();
    return text;
  }

  /** What is kept. */
  text(): string {
    this.#cut();
    return this.#text;
  }

  #cut(): void {
    const bytes = Buffer.byteLength(this.#text);
    if (bytes <= this.#limit) return;
    this.truncated = true;
    const kept = Buffer.from(this.#text).subarray(bytes - this.#limit);
    // A cut falls between characters: what is left of one is dropped.
    let start = 0;
    while (start < kept.length && ((kept[start] ?? 0) & 0xc0) === 0x80) start += 1;
    this.#text = kept.subarray(start).toString("utf8");
  }
}
