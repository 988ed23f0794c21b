import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { plain } from "../support/prompts.ts";
import { asking, type Bench, chatWith, Stage, textOf, until } from "../support/agent.ts";

type Wish = readonly [string, object];

async function bench(t: TestContext, wishes: (stage: Stage) => readonly Wish[]): Promise<Bench & { stage: Stage; id: string }> {
  const stage = await Stage.set({ "in.txt": "before\n" });
  const agent = join(import.meta.dirname, "..", "support", "hostileAgent.mjs");
  const made = chatWith({ command: process.execPath, args: [agent, JSON.stringify(wishes(stage))], env: {}, cwd: stage.project });
  t.after(async () => { await made.chat.dispose(); stage.clear(); });
  const id = await made.chat.sessions.create(stage.project);
  made.chat.prompts.send(id, plain("Go."));
  return { ...made, stage, id };
}

test("a command that nobody was asked about is asked about, and rejected it does not run", async (t) => {
  const { chat, stage, id } = await bench(t, (at) => [["terminal/create", { command: "touch", args: [at.path("made")] }]]);
  const card = await asking(chat);
  assert.equal(card.command, `touch '${stage.path("made")}'`);
  chat.dismiss(id, card.permission!.questionId);
  await until(chat, (state) => textOf(state, "agent").includes("rejected"));
  assert.equal(existsSync(stage.path("made")), false);
});

test("what was allowed once in a card runs once in a terminal, with its output and exit code", async (t) => {
  const toolCall = { toolCallId: "c", title: "Say", kind: "execute", rawInput: { command: "echo hi; exit 3" } };
  const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }, { optionId: "n", name: "No", kind: "reject_once" }];
  const run = { command: "/bin/sh", args: ["-c", "echo hi; exit 3"] };
  const { chat, id } = await bench(t, () => [
    ["session/request_permission", { toolCall, options }],
    ["terminal/create", run],
    ["terminal/wait_for_exit", { terminalId: "t1" }],
    ["terminal/output", { terminalId: "t1" }],
    ["terminal/release", { terminalId: "t1" }],
    ["terminal/create", run],
  ]);
  chat.allow(id, (await asking(chat)).permission!.questionId);
  const again = await until(chat, (state) => state.entries.find((entry) => entry.kind === "card" && entry.callId.startsWith("own:")));
  const said = textOf(chat.store.active!, "agent");
  assert.match(said, /"exitCode":3/);
  assert.match(said, /"output":"hi\\n"/);
  assert.equal(chat.store.active?.terminals["t1"]?.text, "hi\n");
  assert.ok(again.kind === "card" && again.permission);
});

test("a write inside the workspace is done; outside, through a link, and into .git it is asked about", async (t) => {
  const { chat, stage, id } = await bench(t, (at) => [
    ["fs/write_text_file", { path: at.path("in.txt"), content: "after\n" }],
    ["fs/write_text_file", { path: join(at.root, "out.txt"), content: "bad\n" }],
    ["fs/write_text_file", { path: at.path(".git/hooks/pre-commit"), content: "bad\n" }],
    ["fs/write_text_file", { path: at.path("../home/x"), content: "good\n" }],
  ]);
  await symlink(join(stage.root, "home"), stage.path("link"));
  const first = await asking(chat);
  assert.match(first.title, /outside of the workspace/);
  assert.equal(await readFile(stage.path("in.txt"), "utf8"), "after\n");
  chat.dismiss(id, first.permission!.questionId);
  const second = await until(chat, (state) => state.entries.find((entry) => entry.kind === "card" && entry.permission && entry !== first && entry.id !== first.id));
  assert.ok(second.kind === "card" && second.permission);
  chat.dismiss(id, second.permission.questionId);
  const third = await until(chat, (state) => state.entries.find((entry) => entry.kind === "card" && entry.permission && ![first.id, second.id].includes(entry.id)));
  assert.ok(third.kind === "card" && third.permission);
  chat.allow(id, third.permission.questionId);
  await until(chat, (state) => state.phase === "idle");
  assert.equal(existsSync(join(stage.root, "out.txt")), false);
  assert.equal(existsSync(stage.path(".git")), false);
  assert.equal(await readFile(join(stage.home, "x"), "utf8"), "good\n");
});

test("a page is opened only after a yes; what is no web page is declined", async (t) => {
  const { chat, opened } = await bench(t, () => [
    ["elicitation/create", { mode: "url", elicitationId: "1", message: "Look", url: "command:workbench.action.quit" }],
    ["elicitation/create", { mode: "url", elicitationId: "2", message: "Look", url: "https://a.example/x" }],
  ]);
  const page = await until(chat, (state) => state.entries.find((entry) => entry.kind === "page"));
  assert.equal(page.host, "a.example");
  assert.deepEqual(opened, []);
  chat.open.elicitations.answer(page.questionId, { action: "accept", values: {} });
  await until(chat, (state) => state.phase === "idle");
  assert.deepEqual(opened, ["https://a.example/x"]);
  assert.match(textOf(chat.store.active!, "agent"), /"decline"[\s\S]*"accept"/);
});

test("an agent of modes alone has its picker", async (t) => {
  const { chat, id } = await bench(t, () => []);
  assert.deepEqual(chat.store.active?.options.map(({ id: name, value }) => [name, value]), [["mode", "a"]]);
  await chat.sessions.setOption(id, "mode", "b");
  assert.equal(chat.store.active.options[0]?.value, "b");
});

test("a form is answered with what fits it, and with nothing else", async (t) => {
  const requestedSchema = { type: "object", required: ["n"], properties: { n: { type: "integer", minimum: 1 } } };
  const form = { mode: "form", message: "How many?", requestedSchema };
  const { chat } = await bench(t, () => [["elicitation/create", form], ["elicitation/create", form]]);
  const open = (answered: number): Promise<string> => until(chat, (state) => {
    const forms = state.entries.filter((entry) => entry.kind === "form");
    return forms.length > answered && forms.at(-1)?.questionId;
  });
  chat.open.elicitations.answer(await open(0), { action: "accept", values: { n: 2, extra: "x" } });
  chat.open.elicitations.answer(await open(1), { action: "accept", values: { n: 0 } });
  await until(chat, (state) => state.phase === "idle");
  assert.equal(textOf(chat.store.active!, "agent"), '{"action":"accept","content":{"n":2}}\n{"action":"cancel"}\n');
});
