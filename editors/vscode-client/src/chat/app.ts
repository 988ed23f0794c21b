/** The client side of the protocol: which file answers what the agent asks. */

import { client, type ClientApp, methods, type SessionNotification } from "@agentclientprotocol/sdk";
import { createElicitation, type ElicitationDesk } from "../asks/elicitation.ts";
import { type PermissionDesk, requestPermission } from "../asks/permission.ts";
import { type Reading, readTextFile } from "../asks/readTextFile.ts";
import type { Terminals } from "../asks/terminals.ts";
import { type Writing, writeTextFile } from "../asks/writeTextFile.ts";

export interface Desks {
  readonly permission: PermissionDesk;
  readonly elicitation: ElicitationDesk;
  readonly reading: Reading;
  readonly writing: Writing;
  readonly terminals: Terminals;
  update(notification: SessionNotification): void;
  status(sessionId: string, text: string): void;
}

/** The app that a connection is made with. */
export function clientApp(desks: Desks): ClientApp {
  const app = client({ name: "hermes-acp-vscode" });
  app.onNotification(methods.client.session.update, ({ params }) => { desks.update(params); });
  app.onNotification(methods.client.elicitation.complete, () => undefined);
  app.onNotification("_hermes/status", (params) => params, ({ params }) => { status(desks, params); });
  app.onRequest(methods.client.session.requestPermission, ({ params, signal }) =>
    requestPermission(desks.permission, params, signal),
  );
  app.onRequest(methods.client.elicitation.create, ({ params, signal }) =>
    createElicitation(desks.elicitation, params, signal),
  );
  app.onRequest(methods.client.fs.readTextFile, ({ params }) => readTextFile(desks.reading, params));
  app.onRequest(methods.client.fs.writeTextFile, ({ params, signal }) => writeTextFile(desks.writing, params, signal));
  return withTerminals(app, desks.terminals);
}

function withTerminals(app: ClientApp, terminals: Terminals): ClientApp {
  app.onRequest(methods.client.terminal.create, ({ params, signal }) => terminals.create(params, signal));
  app.onRequest(methods.client.terminal.output, ({ params }) => terminals.output(params.terminalId));
  app.onRequest(methods.client.terminal.waitForExit, ({ params }) => terminals.waitForExit(params.terminalId));
  app.onRequest(methods.client.terminal.kill, ({ params }) => { terminals.kill(params.terminalId); });
  app.onRequest(methods.client.terminal.release, ({ params }) => { terminals.release(params.terminalId); });
  return app;
}

function status(desks: Desks, params: unknown): void {
  const { sessionId, text, kind } = (params ?? {}) as { sessionId?: unknown; text?: unknown; kind?: unknown };
  if (typeof sessionId !== "string" || typeof text !== "string") return;
  desks.status(sessionId, kind === "idle" ? "" : text.slice(0, 200));
}
