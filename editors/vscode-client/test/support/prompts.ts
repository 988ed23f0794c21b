/** A prompt of words alone. */

import type { Prompt } from "../../src/chat/prompts.ts";

export function plain(text: string): Prompt {
  return { blocks: [{ type: "text", text }], said: { text, pictures: [], links: [] } };
}
