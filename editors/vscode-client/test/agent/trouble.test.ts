import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { plain } from "../support/prompts.ts";
import { asking, cards, chatWith, launchOf, Model, Stage, textOf, until } from "../support/agent.ts";

let model: Model;
before(async () => { model = await Model.start(); });
after(() => { model.stop(); });

test("a command that is missing is told, with a button to the settings", async () => {
  const { chat } = chatWith({ command: "/no/such/agent", args: [], env: {}, cwd: "/" });
  await chat.attempt(() => chat.sessions.create("/"));
  const { problem } = chat.store.state;
  assert.match(problem?.text ?? "", /"\/no\/such\/agent" was not found/);
  assert.deepEqual(problem?.actions.map(({ id }) => id), ["settings", "install", "retry"]);
});

test("an agent that ends at once is told with its last words", async () => {
  const { chat } = chatWith({ command: "/bin/sh", args: ["-c", "echo broken >&2; exit 3"], env: {}, cwd: "/" });
  await chat.attempt(() => chat.sessions.create("/"));
  assert.match(chat.store.state.problem?.text ?? "", /ended with code 3:\nbroken/);
});

test("without any key the ways to sign in are buttons", async (t) => {
  const stage = await Stage.set();
  const { chat } = chatWith(launchOf(stage));
  t.after(async () => { await chat.dispose(); stage.clear(); });
  await chat.attempt(() => chat.sessions.create(stage.project));
  const { problem } = chat.store.state;
  assert.match(problem?.text ?? "", /^Not signed in/);
  const methods = chat.about?.authMethods ?? [];
  assert.ok(methods.some((method) => "type" in method));
  assert.equal(methods.length, 2);
  assert.deepEqual(problem?.actions.map(({ id }) => id), ["auth:setup", "auth:credentials", "retry"]);
});

test("after a crash the agent is started again and the session goes on", async (t) => {
  const stage = await Stage.set({ "one.txt": "this is wrong\n" });
  const { chat } = chatWith(launchOf(stage, model.url));
  t.after(async () => { await chat.dispose(); stage.clear(); });
  await model.say("Before.", { calls: [{ name: "terminal", arguments: { command: "kill -9 $PPID" } }] }, "After.");
  const id = await chat.sessions.create(stage.project);
  chat.prompts.send(id, plain("Hello."));
  await until(chat, (state) => textOf(state, "agent") === "Before." && state.phase === "idle");
  chat.prompts.send(id, plain("Crash."));
  await asking(chat);
  process.kill((await chat.link.connection()).pid, "SIGKILL");
  await until(chat, (state) => textOf(state, "notice").includes("SIGKILL") && state.phase === "idle");
  assert.equal(chat.waits(id), false);
  assert.deepEqual(cards(chat.store.active!).map(({ status }) => status), ["failed"]);
  await model.say();
  chat.prompts.send(id, plain("And now?"));
  await until(chat, (state) => textOf(state, "agent").includes("After."));
  assert.equal(chat.store.state.problem, undefined);
});

test("an agent that crashes again and again is left to the person", async (t) => {
  const stage = await Stage.set();
  const agent = stage.path("agent.py");
  await writeFile(agent, [
    "import sys, json",
    "m = json.loads(sys.stdin.readline())",
    "print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': {'protocolVersion': 1, 'agentCapabilities': {}}}), flush=True)",
    "m = json.loads(sys.stdin.readline())",
    "print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': {'sessionId': 's'}}), flush=True)",
    "sys.exit(7)",
  ].join("\n"));
  const { chat } = chatWith({ ...launchOf(stage), args: [agent] });
  t.after(async () => { await chat.dispose(); stage.clear(); });
  await chat.attempt(() => chat.sessions.create(stage.project));
  await until(chat, () => chat.store.state.problem?.text.includes("ended with code 7"));
});

test("a default mode is set in new sessions, when the agent has it", async (t) => {
  const stage = await Stage.set();
  const { chat } = chatWith(launchOf(stage, model.url), { defaultMode: () => "plan" });
  t.after(async () => { await chat.dispose(); stage.clear(); });
  await chat.sessions.create(stage.project);
  assert.equal(chat.store.active?.options.find(({ category }) => category === "mode")?.value, "plan");
  await chat.sessions.setOption(chat.store.active.id, "mode", "accept_edits");
  assert.equal(chat.store.active.options.find(({ category }) => category === "mode")?.value, "accept_edits");
});

test("a model that fails ends the turn with a readable reason", async (t) => {
  const stage = await Stage.set();
  const server = createServer((_, answer) => { answer.writeHead(400, { "content-type": "application/json" }).end('{"error": {"message": "no such thing"}}'); });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const { chat, told } = chatWith(launchOf(stage, `http://127.0.0.1:${port}/v1`));
  t.after(async () => { await chat.dispose(); server.closeAllConnections(); server.close(); stage.clear(); });
  const id = await chat.sessions.create(stage.project);
  chat.prompts.send(id, plain("Hello."));
  const state = await until(chat, (now) => now.entries.some((entry) => entry.kind === "notice") && now.phase === "idle" && now);
  assert.match(textOf(state, "notice"), /no such thing/);
  assert.deepEqual(told.at(-1)?.[1], "failed");
});
