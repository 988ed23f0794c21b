// An agent that does what it was told to in its first argument, without asking anyone: [[method, params], ...],
// where the params of `session/update` are the update. Prompts after the first it repeats.
import { createInterface } from "node:readline";

const wishes = JSON.parse(process.argv[2] ?? "[]");
const write = (message) => { process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`); };
const answers = new Map();
let next = 1;

const tell = (update) => { write({ method: "session/update", params: { sessionId: "s", update } }); };

const ask = (method, params) => new Promise((resolve) => {
  answers.set(next, resolve);
  write({ id: next++, method, params: { sessionId: "s", ...params } });
});

const REPLIES = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: { promptCapabilities: {} } }),
  "session/new": () => ({ sessionId: "s", modes: { currentModeId: "a", availableModes: [{ id: "a", name: "A" }, { id: "b", name: "B" }] } }),
  "session/set_mode": () => ({}),
  "session/prompt": async ({ prompt }) => {
    if (wishes.length === 0) tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `You said: ${prompt[0].text}` } });
    for (const [method, params] of wishes.splice(0)) {
      if (method === "session/update") {
        tell(params);
        continue;
      }
      const answer = await ask(method, params);
      tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${JSON.stringify(answer)}\n` } });
    }
    return { stopReason: "end_turn" };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => void take(JSON.parse(line)));

async function take({ id, method, params, result, error }) {
  if (method === undefined) answers.get(id)?.(result ?? { error });
  else if (REPLIES[method]) write({ id, result: await REPLIES[method](params) });
}
