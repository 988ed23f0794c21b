/** What the chat needs of the editor around it; tests put something smaller here. */

import type { AnyMessage, StopReason } from "@agentclientprotocol/sdk";
import type { Folders } from "../asks/folders.ts";
import type { Reading } from "../asks/readTextFile.ts";
import type { Run, Screen } from "../asks/terminals.ts";
import type { Launch } from "../wire/process.ts";

export interface Surroundings {
  readonly version: string;
  readonly reading: Reading;
  readonly folders: Folders;
  write(path: string, content: string): Promise<void>;
  screen(run: Run): Screen;
  /** Opens a web page. */
  open(url: string): Promise<void>;
  launch(): Launch;
  defaultMode(): string;
  log(line: string): void;
  /** Sees each message, when the person has asked for a log of them. */
  watch(): ((direction: "→" | "←", message: AnyMessage) => void) | undefined;
  /** A turn has ended, or a question waits: someone who looks elsewhere wants to know. */
  told(sessionId: string, what: StopReason | "failed" | "asks"): void;
}
