/** A look at each message that passes, for the log that a person may switch on. */

import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

export type Watch = (direction: "→" | "←", message: AnyMessage) => void;

/** The same stream, each message shown to the watcher as it passes. */
export function watched(stream: Stream, watch: Watch): Stream {
  const incoming = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      watch("←", message);
      controller.enqueue(message);
    },
  });
  const outgoing = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      watch("→", message);
      controller.enqueue(message);
    },
  });
  // Both end with the connection, which tells of it.
  outgoing.readable.pipeTo(stream.writable).catch(() => undefined);
  return { readable: stream.readable.pipeThrough(incoming), writable: outgoing.writable };
}

const LONGEST = 20_000;

/** A message as a line of the log: long ones are cut, and values that look like keys are left out. */
export function logLine(direction: string, message: AnyMessage): string {
  const text = JSON.stringify(message, (name, value: unknown) => (isSecret(name) ? "***" : value));
  return `${direction} ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`;
}

function isSecret(name: string): boolean {
  return /^(authorization|api[-_]?key|token|secret|password)$/i.test(name);
}
