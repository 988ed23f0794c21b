/** The extension: the chat and the editor around it, put together. */

import * as vscode from "vscode";
import { Chat } from "./chat/chat.ts";
import { frameOf } from "./chat/frame.ts";
import { Publisher } from "./chat/publisher.ts";
import { act, type Office } from "./editor/actions.ts";
import { Attachments } from "./editor/attachments.ts";
import { begin } from "./editor/begin.ts";
import { problemActions, registerCommands } from "./editor/commands.ts";
import { Diffs, SCHEME } from "./editor/diffs.ts";
import { remember } from "./editor/memory.ts";
import { notify } from "./editor/notices.ts";
import { openQuestionsShown, selectionLabel } from "./editor/shown.ts";
import { solve } from "./editor/solve.ts";
import { surroundings, type Told } from "./editor/surroundings.ts";
import { ChatView, VIEW } from "./editor/view.ts";

let running: Chat | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Hermes ACP", { log: true });
  let told: Told = () => undefined;
  const chat = new Chat(surroundings(context, log, (...what) => { told(...what); }));
  const office = officeOf(context, chat, log);
  told = (sessionId, what) => { notify(watching(office), sessionId, what); };
  running = chat;
  context.subscriptions.push(
    log,
    ...registerCommands({ ...office, log, again: () => begin(chat, context) }),
    ...listeners(context, office),
    vscode.window.registerWebviewViewProvider(VIEW, office.view),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, office.diffs),
    vscode.languages.registerCodeActionsProvider({ scheme: "file" }, problemActions),
  );
}

/** Ends the agent with the window. */
export async function deactivate(): Promise<void> {
  await running?.dispose();
}

interface FullOffice extends Office {
  readonly view: ChatView;
}

function officeOf(context: vscode.ExtensionContext, chat: Chat, log: vscode.OutputChannel): FullOffice {
  const again = (): Promise<void> => begin(chat, context);
  const attachments = new Attachments();
  const view = new ChatView(context.extensionUri, (message) => {
    act(office, message).catch((error: unknown) => { chat.fail(error); });
  });
  const publisher = new Publisher((message) => { view.post(message); }, (state) =>
    frameOf(state, {
      about: () => chat.about,
      attachments: () => attachments.shown,
      selection: selectionLabel,
      waits: (id) => chat.waits(id),
    }),
  );
  const office: FullOffice = {
    chat, view, attachments,
    diffs: new Diffs(),
    post: (message) => { view.post(message); },
    refresh: () => { publisher.take(chat.store.state); },
    restart: () => {
      view.listens();
      publisher.restart(chat.store.state);
      if (!chat.link.running) void again();
    },
    embeds: () => chat.about?.agentCapabilities?.promptCapabilities?.embeddedContext ?? false,
    solve: (action) => solve({ chat, log, again }, action),
  };
  return office;
}

function listeners(context: vscode.ExtensionContext, office: FullOffice): vscode.Disposable[] {
  const { chat, diffs, view } = office;
  const shown = openQuestionsShown(diffs);
  const stop = chat.store.listen((state) => {
    office.refresh();
    shown(state);
    view.badge([...state.sessions.keys()].filter((id) => chat.waits(id)).length);
    void remember(context.workspaceState, state);
  });
  return [
    new vscode.Disposable(stop),
    vscode.window.onDidChangeTextEditorSelection(() => { office.refresh(); }),
    vscode.window.onDidChangeActiveTextEditor(() => { office.refresh(); }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => { if (view.visible) void begin(chat, context); }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      const launching = ["command", "args", "env", "logTraffic"].some((name) => event.affectsConfiguration(`hermes-acp.${name}`));
      if (launching && (chat.link.running || chat.store.state.problem)) void restart(context, chat);
    }),
  ];
}

async function restart(context: vscode.ExtensionContext, chat: Chat): Promise<void> {
  await chat.link.stop();
  await begin(chat, context);
}

function watching({ chat, view }: FullOffice): Parameters<typeof notify>[0] {
  return {
    looksAtChat: () => view.visible && vscode.window.state.focused,
    titleOf: (id) => chat.store.session(id)?.title.trim() ?? "Hermes ACP",
    show: (id) => { chat.store.select(id); void view.show(); },
  };
}
