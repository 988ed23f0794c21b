/** Messages of the webview, checked: it draws what an agent wrote, so it is not believed blindly. */

import * as z from "zod/mini";
import type { FromWebview } from "./protocol.ts";

const id = z.string().check(z.maxLength(1000));
const text = z.string().check(z.maxLength(10_000_000));
const value = z.union([text, z.number(), z.boolean(), z.array(text)]);
const image = z.object({ mimeType: z.string().check(z.regex(/^image\/(png|jpeg|gif|webp)$/)), data: z.string() });
const place = z.union([z.object({ path: text, line: z.number() }), z.object({ path: text })]);

const message = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready") }),
  z.object({ type: z.literal("send"), text, images: z.array(image), selection: z.boolean() }),
  z.object({ type: z.literal("stop") }),
  z.object({ type: z.literal("undo") }),
  z.object({ type: z.literal("answer"), question: id, option: id }),
  z.object({ type: z.literal("dismiss"), question: id }),
  z.object({ type: z.literal("reject"), question: id, comment: text }),
  z.object({
    type: z.literal("elicited"),
    question: id,
    action: z.enum(["accept", "decline", "cancel"]),
    values: z.record(z.string(), value),
  }),
  z.object({ type: z.literal("setOption"), id, value: z.union([id, z.boolean()]) }),
  z.object({ type: z.literal("select"), session: id }),
  z.object({ type: z.literal("close"), session: id }),
  z.object({ type: z.literal("new") }),
  z.object({ type: z.literal("history"), cursor: z.exactOptional(id) }),
  z.object({ type: z.literal("load"), session: id, cwd: text, title: text }),
  z.object({ type: z.literal("delete"), session: id, title: text }),
  z.object({ type: z.literal("openFile"), place }),
  z.object({ type: z.literal("openDiff"), entry: id, part: z.int() }),
  z.object({ type: z.literal("revert"), entry: id, part: z.int() }),
  z.object({ type: z.literal("openLink"), href: text }),
  z.object({ type: z.literal("copy"), text }),
  z.object({ type: z.literal("insert"), text }),
  z.object({ type: z.literal("unqueue"), id }),
  z.object({ type: z.literal("findFiles"), query: id }),
  z.object({ type: z.literal("detach"), id }),
  z.object({ type: z.literal("problem"), action: id }),
]);

/** The message; undefined when it is none of ours. */
export function readMessage(data: unknown): FromWebview | undefined {
  const read = message.safeParse(data);
  return read.success ? read.data : undefined;
}
