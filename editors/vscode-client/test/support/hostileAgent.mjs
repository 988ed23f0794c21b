// An agent that does what it was told to in its first argument, without asking anyone: [[method, params], ...].
import { createInterface } from "node:readline";

const wishes = JSON.parse(process.argv[2] ?? "[]");
const write = (message) => { process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`); };
const answers = new Map();
let next = 1;

const ask = (method, params) => new Promise((resolve) => {
  answers.set(next, resolve);
  write({ id: next++, method, params: { sessionId: "s", ...params } });
});

const REPLIES = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: { promptCapabilities: {} } }),
  "session/new": () => ({ sessionId: "s", modes: { currentModeId: "a", availableModes: [{ id: "a", name: "A" }, { id: "b", name: "B" }] } }),
  "session/set_mode": () => ({}),
  "session/prompt": async () => {
    for (const [method, params] of wishes) {
      const answer = await ask(method, params);
      write({ method: "session/update", params: { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${JSON.stringify(answer)}\n` } } } });
    }
    return { stopReason: "end_turn" };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => void take(JSON.parse(line)));

async function take({ id, method, result, error }) {
  if (method === undefined) answers.get(id)?.(result ?? { error });
  else if (REPLIES[method]) write({ id, result: await REPLIES[method]() });
}
