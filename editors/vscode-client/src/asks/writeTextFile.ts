/** `fs/write_text_file`: a change of the buffer that undo takes back, and then of the disk. */

import { RequestError, type WriteTextFileRequest, type WriteTextFileResponse } from "@agentclientprotocol/sdk";
import { type Folders, isInside } from "./folders.ts";

export interface Writing {
  readonly folders: Folders;
  /** Asks about a file outside of the workspace. */
  askOutside(sessionId: string, path: string, content: string, signal: AbortSignal): Promise<boolean>;
  /** Puts the text into the file through the editor, and saves it. */
  write(path: string, content: string): Promise<void>;
}

/**
 * Writes, after a question when the file lies outside of the workspace.
 *
 * @throws RequestError -32603 when that was rejected, or the editor could not write.
 */
export async function writeTextFile(
  writing: Writing,
  request: WriteTextFileRequest,
  signal: AbortSignal,
): Promise<WriteTextFileResponse> {
  const { sessionId, path, content } = request;
  const may = (await isInside(writing.folders, path)) || (await writing.askOutside(sessionId, path, content, signal));
  if (!may) throw RequestError.internalError({ path }, "The user rejected a write outside of the workspace");
  await writing.write(path, content);
  return {};
}
