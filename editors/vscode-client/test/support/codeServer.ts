/** A real VS Code (code-server) with the extension installed, and a page of a browser that looks at it. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { build } from "esbuild";
import type { Browser, FrameLocator, Page } from "playwright-core";
import type { Launch } from "../../src/wire/process.ts";
import type { Stage } from "./agent.ts";

const run = promisify(execFile);

export const VERSION = "4.139.1";
const ROOT = join(import.meta.dirname, "..", "..");
const CACHE = process.env["HERMES_CODE_SERVER"] ?? join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "hermes-acp", `code-server-${VERSION}`);
const ENTRY = join(CACHE, "node_modules", "code-server", "out", "node", "entry.js");

export const isInstalled = existsSync(ENTRY);

export interface Editor {
  readonly url: string;
  readonly log: () => string;
  stop(): void;
}

const ENV = { ...process.env, EXTENSIONS_GALLERY: '{"serviceUrl":"http://127.0.0.1:9/"}', CODE_SERVER_SESSION_SOCKET: "" };

interface More {
  /** Settings of the person. */
  readonly settings?: Record<string, unknown>;
  /** Packed extensions beside this one. */
  readonly extensions?: readonly string[];
  /** Whether it asks if the folder is trusted. */
  readonly asksForTrust?: boolean;
}

/** Starts it on a project, with the agent of the person. */
export async function startEditor(stage: Stage, launch: Launch, { settings = {}, extensions = [], asksForTrust = false }: More = {}): Promise<Editor> {
  const data = join(stage.root, "editor");
  for (const folder of ["User", "Machine"]) await mkdir(join(data, folder), { recursive: true });
  await writeFile(join(stage.root, "config.yaml"), "auth: none\n");
  const all = { ...QUIET, "security.workspace.trust.enabled": asksForTrust, ...settings };
  await writeFile(join(data, "User", "settings.json"), JSON.stringify(all));
  // The agent's are settings of the machine: those of the user do not hold for a server.
  await writeFile(join(data, "Machine", "settings.json"), JSON.stringify(settingsOf(launch)));
  const folders = ["--config", join(stage.root, "config.yaml"), "--user-data-dir", data, "--extensions-dir", join(stage.root, "extensions")];
  const vsix = join(ROOT, "dist", "hermes-acp.vsix");
  const installs = [vsix, ...extensions].flatMap((path) => ["--install-extension", path]);
  await run(process.execPath, [ENTRY, ...folders, ...installs], { env: ENV });
  const options = ["--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check", ...(asksForTrust ? [] : ["--disable-workspace-trust"])];
  const child = spawn(process.execPath, [ENTRY, ...folders, ...options, stage.project], { env: ENV, stdio: ["ignore", "pipe", "pipe"], detached: true });
  return listening(child, stage);
}

/** Packs the tests of the extension host as an extension; its path. */
export async function buildHostTests(stage: Stage): Promise<string> {
  const folder = join(stage.root, "host-tests");
  const entryPoints = [join(ROOT, "test", "host", "extension.ts")];
  await build({ entryPoints, outfile: join(folder, "extension.cjs"), bundle: true, platform: "node", format: "cjs", external: ["vscode"], logLevel: "warning" });
  await copyFile(join(ROOT, "test", "host", "manifest.json"), join(folder, "package.json"));
  await writeFile(join(folder, "README.md"), "Tests.\n");
  await writeFile(join(folder, "LICENSE"), "MIT\n");
  const vsce = join(ROOT, "node_modules", "@vscode", "vsce", "vsce");
  await run(process.execPath, [vsce, "package", "--no-dependencies", "--allow-missing-repository", "--out", "tests.vsix"], { cwd: folder });
  return join(folder, "tests.vsix");
}

const QUIET = {
  "workbench.startupEditor": "none",
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "workbench.tips.enabled": false,
  "chat.disableAIFeatures": true,
  "chat.commandCenter.enabled": false,
  "git.openRepositoryInParentFolders": "never",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "files.simpleDialog.enable": true,
  "files.autoSave": "off",
  // Drawn as text, which can be read from outside.
  "terminal.integrated.gpuAcceleration": "off",
};

function settingsOf(launch: Launch): Record<string, unknown> {
  return { "hermes-acp.command": launch.command, "hermes-acp.args": launch.args, "hermes-acp.env": launch.env };
}

async function listening(child: ChildProcess, stage: Stage): Promise<Editor> {
  let log = "";
  child.stderr?.on("data", (text) => { log += String(text); });
  const stop = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
  };
  if (!child.stdout) throw new Error("code-server has no output");
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    log += `${line}\n`;
    const [, address] = /HTTP server listening on (\S+)/.exec(line) ?? [];
    if (address === undefined) continue;
    lines.on("line", (more) => { log += `${more}\n`; });
    child.stdout.resume();
    return { url: `${address}?folder=${encodeURIComponent(stage.project)}`, log: () => log, stop };
  }
  throw new Error(`code-server did not start:\n${log}`);
}

/** Opens the editor in a page, and waits until it is there. */
export async function openEditor(browser: Browser, editor: Editor): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(editor.url);
  await page.locator(".monaco-workbench").waitFor({ timeout: 90_000 });
  return page;
}

/** The chat in the side bar, opened by its icon. */
export async function openChat(page: Page): Promise<FrameLocator> {
  await page.locator(".activitybar").getByRole("tab", { name: "Hermes ACP" }).click({ timeout: 90_000 });
  return chatIn(page);
}

/** The chat where the side bar shows it already; its icon would close it. */
export async function chatIn(page: Page): Promise<FrameLocator> {
  const chat = page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
  await chat.getByRole("textbox", { name: "Prompt" }).waitFor({ timeout: 90_000 });
  return chat;
}

/** Runs a command of the palette by its title. */
export async function runCommand(page: Page, title: string): Promise<void> {
  await page.keyboard.press("F1");
  const input = page.locator(".quick-input-widget input[type=text]");
  await input.waitFor();
  await input.fill(`>${title}`);
  await page.locator(".quick-input-list .monaco-list-row").first().waitFor();
  await page.keyboard.press("Enter");
}

/** Where screenshots of the states go, when they are asked for. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["HERMES_PICTURES"];
  if (folder === undefined) return;
  const path = join(folder, `${name}.png`);
  await mkdir(dirname(path), { recursive: true });
  // Nothing is pointed at, and what fades in or out is gone by then.
  await page.mouse.move(900, 600);
  await page.waitForTimeout(500);
  await page.screenshot({ path });
}
