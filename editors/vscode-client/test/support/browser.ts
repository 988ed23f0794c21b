/** The page of the chat in a real browser, with a small stand-in for the editor around it. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { frameOf, type FrameSources } from "../../src/chat/frame.ts";
import { page as pageOf } from "../../src/chat/page.ts";
import type { FromWebview, ToWebview } from "../../src/chat/protocol.ts";
import { Publisher } from "../../src/chat/publisher.ts";
import { Store } from "../../src/chat/store.ts";

const DIST = join(import.meta.dirname, "..", "..", "dist");
const CANDIDATES = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** The browser of this machine; undefined when there is none. */
export const browserPath = CANDIDATES.find((path) => path !== undefined && existsSync(path));

export function launchBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new Error("There is no Chromium: install Debian's package chromium, or name one in CHROMIUM");
  return chromium.launch({ executablePath: browserPath, args: FLAGS });
}

export interface Stage {
  readonly page: Page;
  readonly store: Store;
  /** What the page has told. */
  readonly told: FromWebview[];
  readonly errors: string[];
  sources: FrameSources;
  post(message: ToWebview): Promise<void>;
  /** Shows the state of the store. */
  show(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the page; the store is shown in it whenever a test says so. */
export async function openPage(browser: Browser): Promise<Stage> {
  const server = await serve();
  const { port } = server.address() as { port: number };
  const page = await browser.newPage({ viewport: { width: 420, height: 800 } });
  const [told, errors]: [FromWebview[], string[]] = [[], []];
  page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.exposeFunction("tellHost", (message: FromWebview) => { told.push(message); });
  await page.addInitScript(STAND_IN);
  await page.goto(`http://127.0.0.1:${port}/`);
  return stageOf(page, server, told, errors);
}

function stageOf(page: Page, server: Server, told: FromWebview[], errors: string[]): Stage {
  const store = new Store();
  let sent = Promise.resolve();
  const post = (message: ToWebview): Promise<void> => {
    sent = sent.then(() => page.evaluate((data) => { window.postMessage(data, "*"); }, message));
    return sent;
  };
  const publisher = new Publisher((message) => { void post(message); }, (state) => frameOf(state, stage.sources));
  const stage: Stage = {
    page, store, told, errors, post,
    sources: { about: () => undefined, attachments: () => [], selection: () => undefined, waits: () => false },
    show: async () => {
      publisher.take(store.state);
      publisher.flush();
      await sent;
      await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 60); }));
    },
    close: async () => {
      await page.close();
      server.closeAllConnections();
      server.close();
    },
  };
  return stage;
}

/** Colours of the editor's dark theme, which it sets on the page itself. */
const THEME = {
  "foreground": "#cccccc", "descriptionForeground": "#9d9d9d", "errorForeground": "#f85149", "focusBorder": "#0078d4",
  "font-family": "sans-serif", "font-size": "13px", "editor-background": "#1f1f1f", "panel-border": "#2b2b2b",
  "button-foreground": "#ffffff", "button-background": "#0067b8", "button-hoverBackground": "#026ec1",
  "button-secondaryForeground": "#cccccc", "button-secondaryBackground": "#313131", "button-secondaryHoverBackground": "#3c3c3c",
  "input-background": "#313131", "input-foreground": "#cccccc", "input-border": "#3c3c3c", "input-placeholderForeground": "#989898",
  "dropdown-background": "#313131", "dropdown-foreground": "#cccccc", "dropdown-border": "#3c3c3c",
  "textLink-foreground": "#4daafc", "textCodeBlock-background": "#2b2b2b", "list-activeSelectionBackground": "#04395e",
  "list-activeSelectionForeground": "#ffffff", "diffEditor-insertedLineBackground": "#23863633", "diffEditor-removedLineBackground": "#da363333",
  "terminal-ansiRed": "#f14c4c", "terminal-ansiGreen": "#23d18b", "inputValidation-errorBackground": "#313131",
};

const STAND_IN = `
  addEventListener("DOMContentLoaded", () => {
    document.documentElement.lang = "en";
    document.body.style.backgroundColor = "#181818";
    for (const [name, value] of Object.entries(${JSON.stringify(THEME)})) document.documentElement.style.setProperty("--vscode-" + name, value);
  });
  let state;
  globalThis.acquireVsCodeApi = () => ({
    postMessage: (message) => { globalThis.tellHost(message); },
    getState: () => state,
    setState: (next) => { state = next; },
  });
`;

async function serve(): Promise<Server> {
  const files = new Map<string, [string, string | Buffer]>([
    ["/", ["text/html", ""]],
    ["/webview.js", ["text/javascript", await readFile(join(DIST, "webview.js"))]],
    ["/webview-style.css", ["text/css", await readFile(join(DIST, "webview-style.css"))]],
  ]);
  const server = createServer((request, response) => {
    const found = files.get(request.url ?? "");
    const own = `http://${request.headers.host ?? ""}`;
    const body = request.url === "/" ? pageOf({ script: "/webview.js", style: "/webview-style.css", nonce: "bm9uY2U=", source: own }) : found?.[1];
    response.writeHead(found ? 200 : 404, { "content-type": found?.[0] ?? "text/plain" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
