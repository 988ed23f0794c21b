/** What this editor offers an agent. */

import { type InitializeRequest, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

/** The params of `initialize`. */
export function initializeParams(version: string): InitializeRequest {
  return {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "hermes-acp-vscode", title: "VS Code", version },
    clientCapabilities: {
      fs: { readTextFile: true, writeTextFile: true },
      terminal: true,
      session: { compaction: {}, configOptions: { boolean: {} }, notices: {} },
      auth: { terminal: true },
      elicitation: { form: {}, url: {} },
      // Agents of before `auth.terminal` look here.
      _meta: { "terminal-auth": true },
    },
  };
}
