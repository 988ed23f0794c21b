import assert from "node:assert/strict";
import { mkdir, mkdtemp, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Allowed } from "../../../src/asks/allowed.ts";
import { Captured } from "../../../src/asks/captured.ts";
import { isInside } from "../../../src/asks/folders.ts";
import { rejection } from "../../../src/asks/permission.ts";
import { Questions } from "../../../src/asks/questions.ts";
import { linesOf, readTextFile } from "../../../src/asks/readTextFile.ts";

test("a command that was allowed once runs once; in whatever form it is started", () => {
  const allowed = new Allowed();
  allowed.note("s", "make test", "allow_once");
  assert.equal(allowed.use("other", "make", ["test"]), false);
  assert.equal(allowed.use("s", "make", ["test", "install"]), false);
  assert.equal(allowed.use("s", "/bin/bash", ["-c", "make test"]), true);
  assert.equal(allowed.use("s", "make", ["test"]), false);
});

test("what was allowed for the session runs again, and a rejection allows nothing", () => {
  const allowed = new Allowed();
  allowed.note("s", "ls", "allow_always");
  allowed.note("s", "rm -r x", "reject_once");
  assert.equal(allowed.use("s", "ls", []), true);
  assert.equal(allowed.use("s", "ls", []), true);
  assert.equal(allowed.use("s", "rm", ["-r", "x"]), false);
  allowed.forget("s");
  assert.equal(allowed.use("s", "ls", []), false);
});

test("inside the workspace is what really lies there", async () => {
  const root = await mkdtemp(join(tmpdir(), "folders-"));
  await mkdir(join(root, "work", ".git"), { recursive: true });
  await mkdir(join(root, "away"));
  await symlink(join(root, "away"), join(root, "work", "link"));
  const folders = (): string[] => [join(root, "work")];
  assert.equal(await isInside(folders, join(root, "work", "new", "a.txt")), true);
  assert.equal(await isInside(folders, join(root, "work", "link", "a.txt")), false);
  assert.equal(await isInside(folders, join(root, "work", "..", "away", "a.txt")), false);
  assert.equal(await isInside(folders, join(root, "workshop", "a.txt")), false);
  assert.equal(await isInside(folders, join(root, "work", ".git", "hooks", "pre-commit")), false);
  assert.equal(await isInside(folders, join(root, "work", ".vscode", "tasks.json")), false);
  assert.equal(await isInside(folders, "work/a.txt"), false);
});

test("output is kept by its end, cut between characters", () => {
  const captured = new Captured(10);
  captured.add(Buffer.from("0123456789"));
  assert.equal(captured.text(), "0123456789");
  assert.equal(captured.truncated, false);
  captured.add(Buffer.from("äöü€"));
  assert.equal(captured.text(), "9äöü€");
  assert.equal(captured.truncated, true);
});

test("a character that comes in two pieces is one", () => {
  const captured = new Captured(100);
  const bytes = Buffer.from("€");
  assert.equal(captured.add(bytes.subarray(0, 1)), "");
  assert.equal(captured.add(bytes.subarray(1)), "€");
});

test("a question is answered once; cancelling answers it as dismissed", async () => {
  const questions = new Questions<string>("q");
  const abort = new AbortController();
  const first = questions.ask("q1", "s", "dismissed", abort.signal);
  assert.equal(questions.answer("q1", "yes"), true);
  assert.equal(questions.answer("q1", "no"), false);
  assert.equal(await first, "yes");
  const second = questions.ask("q2", "s", "dismissed", abort.signal);
  assert.equal(questions.waits("s"), true);
  abort.abort();
  assert.equal(await second, "dismissed");
  assert.equal(await questions.ask("q3", "s", "dismissed", abort.signal), "dismissed");
  assert.equal(questions.waits(), false);
});

test("dismissing rejects once where that is offered, and never allows", () => {
  const choice = (kind: "allow_once" | "allow_always" | "reject_once" | "reject_always") => ({ id: kind, name: kind, kind });
  assert.equal(rejection([choice("allow_once"), choice("reject_always"), choice("reject_once")])?.id, "reject_once");
  assert.equal(rejection([choice("allow_once"), choice("reject_always")])?.id, "reject_always");
  assert.equal(rejection([choice("allow_once"), choice("allow_always")]), undefined);
});

test("a read gives lines with their ends, as they are", async () => {
  const text = "a\r\nb\nc";
  assert.equal(linesOf(text, 1, undefined), text);
  assert.equal(linesOf(text, 2, 1), "b\n");
  assert.equal(linesOf(text, 3, 10), "c");
  assert.equal(linesOf(text, 9, 1), "");
  const reading = { buffer: () => undefined, disk: (path: string) => Promise.resolve(path === "/a" ? Buffer.from("\ufeffx") : path === "/b" ? Buffer.from([0xff]) : undefined) };
  await assert.rejects(readTextFile(reading, { sessionId: "s", path: "/none" }), { code: -32002 });
  await assert.rejects(readTextFile(reading, { sessionId: "s", path: "/b" }), { code: -32603 });
});
