/** `fs/read_text_file`: the text as the editor has it, unsaved changes and all. */

import { RequestError, type ReadTextFileRequest, type ReadTextFileResponse } from "@agentclientprotocol/sdk";

export interface Reading {
  /** The text of an open buffer; undefined when the file is not open. */
  buffer(path: string): string | undefined;
  /** The bytes on the disk; undefined when there is no such file. */
  disk(path: string): Promise<Uint8Array | undefined>;
}

/**
 * Reads from the open buffer, else from the disk.
 *
 * @throws RequestError -32002 without such a file, -32603 when it is no UTF-8.
 */
export async function readTextFile(reading: Reading, request: ReadTextFileRequest): Promise<ReadTextFileResponse> {
  const text = reading.buffer(request.path) ?? decoded(request.path, await reading.disk(request.path));
  return { content: linesOf(text, request.line ?? 1, request.limit ?? undefined) };
}

/** Lines from the given one on, counted from 1, each with its own end. */
export function linesOf(text: string, line: number, limit: number | undefined): string {
  if (line <= 1 && limit === undefined) return text;
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const first = Math.max(1, line) - 1;
  return lines.slice(first, limit === undefined ? undefined : first + limit).join("");
}

function decoded(path: string, bytes: Uint8Array | undefined): string {
  if (!bytes) throw RequestError.resourceNotFound(path);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw RequestError.internalError({ path }, `${path} is not UTF-8 text`);
  }
}
