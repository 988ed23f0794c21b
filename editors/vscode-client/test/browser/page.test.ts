import assert from "node:assert/strict";
import { after, before, beforeEach, afterEach, describe, test } from "node:test";
import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type { Browser } from "playwright-core";
import { askInCard } from "../../src/state/cards.ts";
import { askForm, askPage, fieldsOf } from "../../src/state/elicitation.ts";
import type { Choice } from "../../src/state/model.ts";
import { beginTurn } from "../../src/state/turns.ts";
import { applyUpdate } from "../../src/state/update.ts";
import { launchBrowser, openPage, type Stage } from "../support/browser.ts";

const CHOICES: Choice[] = [
  { id: "once", name: "Allow once", kind: "allow_once" },
  { id: "always", name: "Allow for this session", kind: "allow_always" },
  { id: "no", name: "Reject", kind: "reject_once" },
];

let browser: Browser;
let stage: Stage;

before(async () => { browser = await launchBrowser(); });
after(async () => { await browser.close(); });

function open(): void {
  stage.store.open("s", "/project", "A session");
  stage.store.change("s", (state) => beginTurn(state, { text: "Please look.", pictures: [], links: [] }));
}

function update(next: SessionUpdate): void {
  stage.store.change("s", (state) => applyUpdate(state, next, Date.now()));
}

function say(text: string): void {
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
}

function ask(command: string | undefined, content: ToolCallContent[] = []): void {
  const call = { toolCallId: "c", title: "Run a command", kind: "execute" as const, status: "pending" as const, content, ...(command === undefined ? {} : { rawInput: { command } }) };
  const named = command === undefined ? {} : { command };
  stage.store.change("s", (state) => askInCard(state, call, { questionId: "p1", choices: CHOICES, ...named }, 0));
}

describe("the page", () => {
  beforeEach(async () => {
    stage = await openPage(browser);
    open();
    await stage.show();
  });
  afterEach(async () => {
    const { errors } = stage;
    await stage.close();
    assert.deepEqual(errors, []);
  });

  test("an answer streams as Markdown, and its code can be copied and inserted", async () => {
    say("# Title\n\nSome **bold** text.\n\n```js\nlet a ");
    await stage.show();
    say("= 1;\n```\n\nAnd the end.");
    await stage.show();
    await stage.page.getByText("And the end.").waitFor();
    assert.equal(await stage.page.locator(".agent h1").textContent(), "Title");
    assert.equal(await stage.page.locator(".agent strong").textContent(), "bold");
    assert.equal(await stage.page.locator(".agent pre").textContent(), "let a = 1;\n");
    await stage.page.getByRole("button", { name: "Copy the code" }).click();
    await stage.page.getByRole("button", { name: "Insert the code" }).click();
    assert.deepEqual(stage.told.slice(1), [{ type: "copy", text: "let a = 1;\n" }, { type: "insert", text: "let a = 1;\n" }]);
  });

  test("hostile text stays text: no element, no address, no script of it", async () => {
    const hostile = [
      "<script>window.owned = 1</script><img src=x onerror='window.owned = 1'>",
      "[run](command:workbench.action.quit) [js](javascript:window.owned=1) ![pixel](https://evil.example/p.png)",
      "<iframe src='https://evil.example'></iframe>",
      "> `<b>x</b>` &lt;b&gt;",
    ].join("\n\n");
    say(hostile);
    update({ sessionUpdate: "tool_call", toolCallId: "h", title: hostile, kind: "execute", status: "failed", content: [{ type: "content", content: { type: "text", text: `\u001b]8;;command:evil\u0007<img src=x>\u001b[31m<b>red</b>${"y".repeat(100_000)}` } }] });
    update({ sessionUpdate: "plan", entries: [{ content: "<img src=x onerror='window.owned = 1'>", priority: "low", status: "pending" }] });
    await stage.show();
    await stage.page.getByText("window.owned = 1").first().waitFor();
    assert.equal(await stage.page.evaluate(() => "owned" in window), false);
    assert.equal(await stage.page.locator("img, iframe, body script:not([nonce])").count(), 0);
    assert.deepEqual(await stage.page.evaluate(() => [...new Set([...document.links].map((link) => link.getAttribute("href")))]), ["#"]);
    await stage.page.getByRole("link", { name: "run" }).click();
    assert.deepEqual(stage.told.at(-1), { type: "openLink", href: "command:workbench.action.quit" });
  });

  test("a question shows the exact command, and keys answer it", async () => {
    ask("rm -rf build \u202e&& echo safe");
    await stage.show();
    assert.equal(await stage.page.getByRole("region", { name: "The exact command" }).textContent(), "rm -rf build \\u{202e}&& echo safe");
    const button = stage.page.getByRole("button", { name: "Allow once" });
    assert.equal(await button.evaluate((element) => element === document.activeElement), true);
    await stage.page.keyboard.press("2");
    assert.deepEqual(stage.told.at(-1), { type: "answer", question: "p1", option: "always" });
    await stage.page.keyboard.press("Escape");
    assert.deepEqual(stage.told.at(-1), { type: "dismiss", question: "p1" });
  });

  test("a question does not take the focus from someone who writes", async () => {
    await stage.page.getByRole("textbox", { name: "Prompt" }).fill("half a sen");
    ask("make");
    await stage.show();
    await stage.page.keyboard.type("1tence");
    assert.equal(await stage.page.getByRole("textbox", { name: "Prompt" }).inputValue(), "half a sen1tence");
    await stage.post({ type: "focus", where: "question" });
    await stage.page.waitForFunction(() => document.activeElement?.textContent.startsWith("Allow once"));
  });

  test("reject with a comment", async () => {
    ask("make");
    await stage.show();
    await stage.page.getByRole("textbox", { name: "Reject with a comment" }).fill("1 use ninja");
    await stage.page.keyboard.press("Enter");
    assert.deepEqual(stage.told.at(-1), { type: "reject", question: "p1", comment: "1 use ninja" });
  });

  test("diffs before approval: hunks inline, the native diff by a button, files one by one", async () => {
    const diff = (path: string): ToolCallContent => ({ type: "diff", path, oldText: "a\nb\n", newText: "a\nc\n" });
    ask(undefined, [diff("/project/one.ts"), diff("/project/two.ts")]);
    await stage.show();
    assert.deepEqual(await stage.page.locator(".diff").first().locator(".line").allTextContents(), ["@@ -1 +1 @@", " a", "-b", "+c"]);
    await stage.page.getByRole("button", { name: "Open Diff of two.ts" }).click();
    assert.deepEqual(stage.told.at(-1), { type: "openDiff", entry: "e2", part: 1 });
    await stage.page.getByRole("checkbox", { name: "Accept two.ts" }).uncheck();
    await stage.page.getByRole("button", { name: "Allow once" }).click();
    assert.deepEqual(stage.told.at(-1), { type: "reject", question: "p1", comment: "Make the change to one.ts as proposed, but do not change two.ts." });
  });

  test("a form tells what is missing, and sends what was filled in", async () => {
    const fields = fieldsOf({
      type: "object",
      required: ["name"],
      properties: {
        name: { type: "string", title: "Name" },
        count: { type: "integer", title: "Count", minimum: 1 },
        fast: { type: "boolean", title: "Fast" },
        colour: { type: "string", title: "Colour", enum: ["red", "green"] },
        parts: { type: "array", title: "Parts", items: { type: "string", enum: ["a", "b"] } },
      },
    });
    stage.store.change("s", (state) => askForm(state, "f1", "What shall it be?", fields));
    await stage.show();
    await stage.page.getByRole("button", { name: "Answer" }).click();
    await stage.page.getByText("This is needed.").waitFor();
    await stage.page.getByLabel("Name (needed)").fill("Ann");
    await stage.page.getByLabel("Count").fill("3");
    await stage.page.getByLabel("Fast").check();
    await stage.page.getByLabel("Colour").selectOption("green");
    await stage.page.getByRole("group", { name: "Parts" }).getByLabel("b").check();
    await stage.page.getByRole("button", { name: "Answer" }).click();
    assert.deepEqual(stage.told.at(-1), { type: "elicited", question: "f1", action: "accept", values: { name: "Ann", count: 3, fast: true, colour: "green", parts: ["b"] } });
  });

  test("a page to open shows its host first", async () => {
    stage.store.change("s", (state) => askPage(state, "f2", "Sign in", "https://good.example@evil.example/login"));
    await stage.show();
    const card = stage.page.getByRole("region", { name: "Question: Page to open" });
    assert.match((await card.textContent()) ?? "", /^Opens evil\.example/);
    await card.getByRole("button", { name: "Open" }).click();
    assert.deepEqual(stage.told.at(-1), { type: "elicited", question: "f2", action: "accept", values: {} });
  });

  test("commands and files are completed by keys alone", async () => {
    update({ sessionUpdate: "available_commands_update", availableCommands: [{ name: "compact", description: "Sum up" }, { name: "context", description: "Show" }] });
    await stage.show();
    const prompt = stage.page.getByRole("textbox", { name: "Prompt" });
    await prompt.pressSequentially("/co");
    await stage.page.keyboard.press("ArrowDown");
    assert.equal(await prompt.getAttribute("aria-activedescendant"), "suggestion-1");
    await stage.page.keyboard.press("Enter");
    assert.equal(await prompt.inputValue(), "/context ");
    await prompt.fill("see ");
    await prompt.pressSequentially("@ma");
    assert.deepEqual(stage.told.at(-1), { type: "findFiles", query: "ma" });
    await stage.post({ type: "files", query: "ma", files: ["src/main.ts"] });
    await stage.page.getByRole("option", { name: "src/main.ts" }).waitFor();
    await stage.page.keyboard.press("Tab");
    assert.equal(await prompt.inputValue(), "see @src/main.ts ");
    await stage.page.keyboard.press("Enter");
    assert.deepEqual(stage.told.at(-1), { type: "send", text: "see @src/main.ts ", images: [], selection: false });
    assert.equal(await prompt.inputValue(), "");
    await stage.page.keyboard.press("Escape");
    assert.deepEqual(stage.told.at(-1), { type: "stop" });
  });

  test("an image is pasted, shown and sent, where the agent takes images", async () => {
    stage.sources = { ...stage.sources, about: () => ({ protocolVersion: 1, agentCapabilities: { promptCapabilities: { image: true } } }) };
    await stage.show();
    await stage.page.evaluate(() => {
      const bytes = Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="), (each) => each.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], "a.png", { type: "image/png" }));
      document.querySelector("textarea")?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
    });
    await stage.page.getByRole("img", { name: "Image 1" }).waitFor();
    await stage.page.getByRole("button", { name: "Queue" }).click();
    const last = stage.told.at(-1);
    assert.ok(last?.type === "send" && last.images[0]?.mimeType === "image/png" && last.images[0].data.startsWith("iVBOR"));
  });

  test("an image and a file are dropped; what could not be sent comes back with its image", async () => {
    stage.sources = { ...stage.sources, about: () => ({ protocolVersion: 1, agentCapabilities: { promptCapabilities: { image: true } } }) };
    await stage.show();
    await stage.page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array([137, 80, 78, 71])], "a.png", { type: "image/png" }));
      data.setData("text/uri-list", "file:///project/my%20file.ts");
      document.querySelector(".conversation")?.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await stage.page.getByRole("img", { name: "Image 1" }).waitFor();
    assert.equal(await stage.page.getByRole("textbox", { name: "Prompt" }).inputValue(), '@"/project/my file.ts" ');
    await stage.page.getByRole("button", { name: "Queue" }).click();
    assert.equal(await stage.page.getByRole("img", { name: "Image 1" }).count(), 0);
    const sent = stage.told.at(-1);
    assert.ok(sent?.type === "send");
    await stage.post({ type: "draft", text: sent.text, images: sent.images });
    await stage.page.getByRole("img", { name: "Image 1" }).waitFor();
    assert.equal(await stage.page.getByRole("textbox", { name: "Prompt" }).inputValue(), sent.text);
  });

  test("an empty conversation says what to do, until something is said", async () => {
    stage.sources = { ...stage.sources, about: () => ({ protocolVersion: 1 }) };
    stage.store.open("t", "/home/me/shop", "");
    await stage.show();
    await stage.page.getByRole("heading", { name: "The agent in shop" }).waitFor();
    stage.store.change("t", (state) => beginTurn(state, { text: "Hello.", pictures: [], links: [] }));
    await stage.show();
    await stage.page.getByRole("heading", { name: "The agent in shop" }).waitFor({ state: "hidden" });
  });

  test("the reader keeps the place: at the end it follows, above it stays", async () => {
    say("line\n\n".repeat(200));
    await stage.show();
    const log = stage.page.getByRole("log", { name: "Conversation" });
    const gap = (): Promise<number> => log.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop);
    await stage.page.waitForFunction(() => document.querySelectorAll(".agent p").length > 150);
    assert.ok((await gap()) < 5, "it follows");
    await log.evaluate((element) => { element.scrollTop = 100; });
    await stage.page.waitForTimeout(50);
    say("more\n\n".repeat(200));
    await stage.show();
    await stage.page.waitForFunction(() => document.querySelectorAll(".agent p").length > 350);
    assert.equal(await log.evaluate((element) => element.scrollTop), 100);
  });

  test("history: loaded with a key, more by a button, deleted by name", async () => {
    await stage.post({ type: "focus", where: "history" });
    await stage.page.getByRole("dialog", { name: "Session history" }).waitFor();
    await stage.post({ type: "history", sessions: [{ id: "h1", cwd: "/p", title: "Old one", updated: "2020-01-02T00:00:00Z" }], next: undefined });
    await stage.page.getByRole("button", { name: "Delete Old one" }).click();
    assert.deepEqual(stage.told.at(-1), { type: "delete", session: "h1", title: "Old one" });
    await stage.page.getByRole("button", { name: "Old one", exact: true }).press("Enter");
    assert.deepEqual(stage.told.at(-1), { type: "load", session: "h1", cwd: "/p", title: "Old one" });
  });

  test("sessions side by side are tabs that arrow keys go through", async () => {
    stage.store.open("t", "/project", "Another");
    await stage.show();
    await stage.page.getByRole("tab", { name: "Another" }).focus();
    await stage.page.keyboard.press("ArrowLeft");
    assert.deepEqual(stage.told.at(-1), { type: "select", session: "s" });
    stage.store.select("s");
    await stage.show();
    assert.equal(await stage.page.getByRole("tab", { name: "A session" }).evaluate((element) => element === document.activeElement), true);
  });
});
