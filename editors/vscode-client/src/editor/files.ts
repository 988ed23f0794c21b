/** Files through the editor: open buffers are what is read, and writes can be undone there. */

import * as vscode from "vscode";
import type { Reading } from "../asks/readTextFile.ts";
import { changedPart } from "./changedPart.ts";

/** Reads of open buffers and of the disk. */
export const reading: Reading = {
  buffer: (path) => openDocument(path)?.getText(),
  disk: async (path) => {
    try {
      return await vscode.workspace.fs.readFile(vscode.Uri.file(path));
    } catch (error) {
      if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return undefined;
      throw error;
    }
  },
};

/**
 * Puts text into a file by way of its buffer, and saves it.
 *
 * @throws Error when the editor could not change or save it.
 */
export async function writeThroughEditor(path: string, content: string): Promise<void> {
  const uri = vscode.Uri.file(path);
  if (!(await exists(uri))) {
    await createFile(uri, content);
    return;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const edit = editOf(document, content);
  if (edit && !(await vscode.workspace.applyEdit(edit))) throw new Error(`${path} could not be changed in the editor`);
  if (document.isDirty && !(await document.save())) throw new Error(`${path} was changed but could not be saved`);
}

/** The document of a path, when it is open. */
export function openDocument(path: string): vscode.TextDocument | undefined {
  const wanted = vscode.Uri.file(path).toString();
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted && !document.isClosed);
}

/** The edit that makes a document hold the text; only the part that differs, so that carets stay. */
function editOf(document: vscode.TextDocument, content: string): vscode.WorkspaceEdit | undefined {
  const part = changedPart(document.getText(), content);
  if (!part) return undefined;
  const edit = new vscode.WorkspaceEdit();
  const range = new vscode.Range(document.positionAt(part.start), document.positionAt(part.end));
  edit.replace(document.uri, range, part.text);
  return edit;
}

async function createFile(uri: vscode.Uri, content: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.createFile(uri, { overwrite: false, contents: new TextEncoder().encode(content) });
  if (!(await vscode.workspace.applyEdit(edit))) throw new Error(`${uri.fsPath} could not be made by the editor`);
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );
}
