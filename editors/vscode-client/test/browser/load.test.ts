import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import type { Browser, CDPSession } from "playwright-core";
import { askInCard } from "../../src/state/cards.ts";
import { askForm, askPage, fieldsOf } from "../../src/state/elicitation.ts";
import { beginTurn, enqueue } from "../../src/state/turns.ts";
import { applyUpdate, withNotice } from "../../src/state/update.ts";
import { launchBrowser, openPage, type Stage } from "../support/browser.ts";

let browser: Browser;
before(async () => { browser = await launchBrowser(); });
after(async () => { await browser.close(); });

const SAID = { text: "Hello", pictures: [], links: [{ name: "a.ts", uri: "file:///a.ts" }] };

interface Found {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[] }[];
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** The longest task of the page's main thread, in milliseconds of its own time, while something is done. */
async function longestTask(stage: Stage, work: () => Promise<void>): Promise<number> {
  const session = await stage.page.context().newCDPSession(stage.page);
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => { events.push(...(value as unknown as TraceEvent[])); });
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel", "disabled-by-default-devtools.timeline"] } });
  await work();
  await stopped(session);
  const main = new Set(events.filter((event) => event.name === "thread_name" && event.args.name === "CrRendererMain").map(({ pid, tid }) => `${pid}:${tid}`));
  const tasks = events.filter((event) => event.name.endsWith("RunTask") && main.has(`${event.pid}:${event.tid}`));
  assert.ok(tasks.length > 10);
  return Math.max(...tasks.map((event) => (event.tdur ?? 0) / 1000));
}

async function stopped(session: CDPSession): Promise<void> {
  const complete = new Promise((resolve) => { session.once("Tracing.tracingComplete", resolve); });
  await session.send("Tracing.end");
  await complete;
}

test("10,000 deltas and a diff of 5,000 lines: no task over 100 ms, memory bounded", { timeout: 120_000 }, async (t) => {
  const stage = await openPage(browser);
  t.after(() => stage.close());
  stage.store.open("s", "/project");
  stage.store.change("s", (state) => beginTurn(state, SAID));
  const longest = await longestTask(stage, async () => {
    for (let at = 0; at < 10_000; at += 1) {
      const text = at % 400 === 399 ? "\n\n```js\nlet x;\n```\n\n" : at % 50 === 49 ? ".\n\n" : `word${at} `;
      stage.store.change("s", (state) => applyUpdate(state, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } }, at));
      if (at % 100 === 99) await stage.show();
    }
    const lines = (word: string): string => Array.from({ length: 5000 }, (_, at) => `${word} ${at}`).join("\n");
    const content = [{ type: "diff" as const, path: "/project/a.ts", oldText: lines("old"), newText: lines("new") }];
    stage.store.change("s", (state) => applyUpdate(state, { sessionUpdate: "tool_call", toolCallId: "c", title: "Edit", kind: "edit", content }, 0));
    await stage.show();
    await stage.page.getByText("word9998").waitFor();
  });
  assert.ok(longest < 100, `the longest task took ${longest} ms`);
  assert.equal(await stage.page.evaluate(() => document.querySelectorAll(".code").length), 25);
  const nodes = await stage.page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(nodes < 5000, `${nodes} elements`);
  const heap = await heapOf(stage);
  assert.ok(heap < 40, `${heap} MB`);
  t.diagnostic(`the longest task took ${longest.toFixed(0)} ms; ${nodes} elements, ${heap.toFixed(1)} MB`);
  assert.deepEqual(stage.errors, []);
});

/** Megabytes of the page's heap that are in use after what is garbage was let go. */
async function heapOf(stage: Stage): Promise<number> {
  const session = await stage.page.context().newCDPSession(stage.page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1024 / 1024;
}

test("everything has a name, a role and contrast: nothing that axe finds", { timeout: 60_000 }, async (t) => {
  const stage = await openPage(browser);
  t.after(() => stage.close());
  everything(stage);
  await stage.show();
  await stage.page.getByRole("button", { name: "Answer" }).waitFor();
  await stage.page.evaluate(await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  const run = "axe.run(document, { resultTypes: ['violations'], rules: { 'page-has-heading-one': { enabled: false }, 'meta-viewport': { enabled: true } } })";
  const { violations } = await stage.page.evaluate<Found>(run);
  assert.deepEqual(violations.map(({ id, nodes }) => ({ id, nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`) })), []);
});

function everything(stage: Stage): void {
  const { store } = stage;
  store.open("t", "/project", "Another");
  store.open("s", "/project", "A session");
  const steps: Parameters<typeof store.change>[1][] = [
    (state) => beginTurn(state, SAID),
    (state) => applyUpdate(state, { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } }, 1),
    (state) => applyUpdate(state, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "# A\n\n`x` [l](https://a.example)\n\n```js\n1\n```\n\n|a|b|\n|-|-|\n|1|2|\n" } }, 2),
    (state) => applyUpdate(state, { sessionUpdate: "plan", entries: [{ content: "one", status: "completed", priority: "low" }, { content: "two", status: "pending", priority: "low" }] }, 2),
    (state) => applyUpdate(state, { sessionUpdate: "tool_call", toolCallId: "r", title: "Run", kind: "execute", status: "in_progress", rawInput: { command: "make" }, content: [{ type: "content", content: { type: "text", text: "\u001b[31mred\u001b[0m" } }] }, 2),
    (state) => applyUpdate(state, { sessionUpdate: "usage_update", used: 12_000, size: 128_000, cost: { amount: 0.03, currency: "USD" } }, 2),
    (state) => applyUpdate(state, { sessionUpdate: "config_option_update", configOptions: [{ type: "select", id: "mode", name: "Mode", category: "mode", currentValue: "a", options: [{ value: "a", name: "A" }] }, { type: "boolean", id: "fast", name: "Fast", currentValue: true }] }, 2),
    (state) => withNotice(state, "error", ["Something failed."]),
    (state) => askInCard(state, { toolCallId: "e", title: "Edit", kind: "edit", content: [{ type: "diff", path: "/project/a.ts", oldText: "a", newText: "b" }, { type: "diff", path: "/project/b.ts", newText: "b" }] }, { questionId: "p1", choices: [{ id: "y", name: "Allow once", kind: "allow_once" }, { id: "n", name: "Reject", kind: "reject_once" }] }, 0),
    (state) => askForm(state, "f1", "What?", fieldsOf({ properties: { a: { type: "string" }, b: { type: "array", items: { type: "string", enum: ["x"] } }, c: { type: "boolean" }, d: { type: "string", enum: ["x"] }, e: { type: "number" } } })),
    (state) => askPage(state, "f2", "Sign in", "https://a.example/"),
    (state) => enqueue(state, { id: "w1", text: "And then this." }, "last"),
  ];
  for (const step of steps) store.change("s", step);
  store.trouble({ text: "Not signed in.", actions: [{ id: "retry", title: "Try Again" }] });
  stage.sources = { ...stage.sources, selection: () => "a.ts:1-2", attachments: () => [{ id: "a1", kind: "file", label: "b.ts" }] };
}
