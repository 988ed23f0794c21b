import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { plain } from "../support/prompts.ts";
import { asking, cards, chatWith, idle, launchOf, Model, Stage, textOf, until } from "../support/agent.ts";

let model: Model;
before(async () => { model = await Model.start(); });
after(() => { model.stop(); });

const EDIT = { name: "patch", arguments: { path: "one.txt", old_text: "wrong", new_text: "right" } };

test("a turn: thought, answer, diff before approval, edit on the disk, command with its exact words", async (t) => {
  const stage = await Stage.set({ "one.txt": "this is wrong\n" });
  const { chat, told } = chatWith(launchOf(stage, model.url));
  t.after(async () => { await chat.dispose(); stage.clear(); });
  await model.say(
    { text: "I read it. ", reasoning: "One file.", calls: [{ name: "read_file", arguments: { path: "one.txt" } }] },
    { text: "Now the edit. ", calls: [EDIT] },
    { text: "And this. ", calls: [{ name: "terminal", arguments: { command: "printf 'all done' > made.txt" } }] },
    "All done.",
  );
  const id = await chat.sessions.create(stage.project);
  chat.prompts.send(id, plain("Correct it."));

  const edit = await asking(chat);
  assert.equal(edit.tool, "edit");
  const [part] = edit.parts;
  assert.ok(part?.kind === "diff");
  assert.deepEqual([part.change.oldText, part.change.newText], ["this is wrong\n", "this is right\n"]);
  assert.equal(await stage.read("one.txt"), "this is wrong\n");
  chat.allow(id, edit.permission!.questionId);

  const run = await until(chat, (state) => cards(state).find((card) => card.permission?.command !== undefined));
  // What is shown is what runs: the program by its path, where the agent has looked it up.
  assert.match(run.permission?.command ?? "", /^(\/\S+\/)?printf 'all done' > made\.txt$/);
  assert.equal(await stage.read("one.txt"), "this is right\n");
  chat.allow(id, run.permission!.questionId);

  const state = await idle(chat);
  assert.equal(await stage.read("made.txt"), "all done");
  assert.equal(textOf(state, "thought"), "One file.");
  assert.equal(textOf(state, "agent"), "I read it. Now the edit. And this. All done.");
  assert.deepEqual(cards(state).map((card) => card.status), ["completed", "completed", "completed"]);
  assert.ok(state.usage && state.usage.size > 0);
  assert.ok(state.options.some((option) => option.category === "mode"));
  assert.deepEqual(told.map(([, what]) => what), ["asks", "asks", "end_turn"]);
});

test("dismissing a question rejects, and the file stays", async (t) => {
  const stage = await Stage.set({ "one.txt": "this is wrong\n" });
  const { chat } = chatWith(launchOf(stage, model.url));
  t.after(async () => { await chat.dispose(); stage.clear(); });
  await model.say({ calls: [EDIT] }, "As you wish.", "Noted.");
  const id = await chat.sessions.create(stage.project);
  chat.prompts.send(id, plain("Correct it."));
  const card = await asking(chat);
  chat.rejectWith(id, card.permission!.questionId, "Use another word.");
  const state = await until(chat, (now) => textOf(now, "agent").includes("Noted.") && now.phase === "idle" && now);
  assert.equal(await stage.read("one.txt"), "this is wrong\n");
  assert.deepEqual(cards(state).map(({ status, answer }) => [status, answer]), [["failed", "Reject"]]);
  assert.match(textOf(state, "user"), /Use another word\.$/);
});

test("stop in mid-turn ends the turn, takes its question back, and the next prompt runs", async (t) => {
  const stage = await Stage.set({ "one.txt": "this is wrong\n" });
  const { chat } = chatWith(launchOf(stage, model.url));
  t.after(async () => { await chat.dispose(); stage.clear(); });
  await model.say({ calls: [EDIT] }, "Here again.");
  const id = await chat.sessions.create(stage.project);
  chat.prompts.send(id, plain("Correct it."));
  await asking(chat);
  await chat.stop(id);
  const stopped = await idle(chat);
  assert.match(textOf(stopped, "notice"), /Stopped/);
  assert.equal(chat.waits(id), false);
  chat.prompts.send(id, plain("Go on."));
  await until(chat, (state) => textOf(state, "agent").includes("Here again."));
  assert.equal(await stage.read("one.txt"), "this is wrong\n");
});

test("prompts wait while a turn runs, in order, and one can be taken back", async (t) => {
  const stage = await Stage.set({ "one.txt": "this is wrong\n" });
  const { chat } = chatWith(launchOf(stage, model.url));
  t.after(async () => { await chat.dispose(); stage.clear(); });
  await model.say({ calls: [EDIT] }, "First. ", "Third. ");
  const id = await chat.sessions.create(stage.project);
  for (const text of ["one", "two", "three"]) chat.prompts.send(id, plain(text));
  const card = await asking(chat);
  assert.deepEqual(chat.store.active?.queue.map(({ text }) => text), ["two", "three"]);
  chat.prompts.drop(id, chat.store.active.queue[0]!.id);
  chat.allow(id, card.permission!.questionId);
  const state = await until(chat, (now) => textOf(now, "agent").includes("Third.") && now.phase === "idle" && now);
  assert.equal(textOf(state, "user"), "onethree");
  assert.equal(textOf(state, "agent"), "First. Third. ");
});

test("a session of the past is listed with its folder, loaded whole, and deleted", async (t) => {
  const stage = await Stage.set({ "one.txt": "this is wrong\n" });
  const { chat } = chatWith(launchOf(stage, model.url));
  t.after(async () => { await chat.dispose(); stage.clear(); });
  await model.say({ text: "It is so. ", calls: [EDIT] }, "Done.");
  const id = await chat.sessions.create(stage.project);
  chat.prompts.send(id, plain("Correct it."));
  chat.allow(id, (await asking(chat)).permission!.questionId);
  const before = await idle(chat);
  await chat.link.stop();
  chat.store.close(id);

  const { sessions } = await chat.sessions.list(stage.project);
  assert.deepEqual(sessions.map((session) => session.sessionId), [id]);
  await chat.sessions.load({ id, cwd: stage.project, title: "" });
  const loaded = chat.store.active!;
  assert.deepEqual(loaded.entries.map((entry) => entry.kind), before.entries.map((entry) => entry.kind));
  assert.equal(textOf(loaded, "agent"), "It is so. Done.");
  await chat.sessions.delete(id);
  assert.equal(chat.store.active, undefined);
  assert.deepEqual((await chat.sessions.list(stage.project)).sessions, []);
});
