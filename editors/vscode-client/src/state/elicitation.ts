/** Forms that an agent asks to have filled: their fields, and what may be sent back. */

import type { ElicitationContentValue, ElicitationPropertySchema, ElicitationSchema } from "@agentclientprotocol/sdk";
import { append, lastIndex, replaceAt } from "./entries.ts";
import type { Field, FieldChoice, SessionState } from "./model.ts";

export type Values = Readonly<Record<string, ElicitationContentValue>>;

/** The fields of a form; kinds that this client does not know become text. */
export function fieldsOf(schema: ElicitationSchema): Field[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([name, property]) => field(name, property, required.has(name)));
}

/** The session with a form that waits for its answer. */
export function askForm(state: SessionState, questionId: string, message: string, fields: readonly Field[]): SessionState {
  return append(state, { kind: "form", questionId, message, fields });
}

/** The session with a page that the agent asks to open. */
export function askPage(state: SessionState, questionId: string, message: string, url: string): SessionState {
  return append(state, { kind: "page", questionId, message, url, host: hostOf(url) });
}

/** The session with a form or page that was answered. */
export function answerElicitation(state: SessionState, questionId: string, outcome: string): SessionState {
  const index = lastIndex(state, (entry) => isElicitation(entry.kind) && "questionId" in entry && entry.questionId === questionId);
  const entry = state.entries[index];
  return entry?.kind === "form" || entry?.kind === "page" ? replaceAt(state, index, { ...entry, outcome }) : state;
}

/** The host of an address, in the form that cannot be taken for another; empty when it is no web address. */
export function hostOf(url: string): string {
  try {
    const parsed = new URL(url);
    return parsed.protocol === "https:" || parsed.protocol === "http:" ? parsed.host : "";
  } catch {
    return "";
  }
}

/** What is wrong with the values of a form, by field; nothing when they may be sent. */
export function problems(fields: readonly Field[], values: Values): Record<string, string> {
  const found: Record<string, string> = {};
  for (const each of fields) {
    const problem = problemOf(each, values[each.name]);
    if (problem) found[each.name] = problem;
  }
  return found;
}

/** The values that belong to a form's fields and have a value; nothing else is sent. */
export function known(fields: readonly Field[], values: Values): Record<string, ElicitationContentValue> {
  const kept: Record<string, ElicitationContentValue> = {};
  for (const { name } of fields) {
    const value = values[name];
    if (value !== undefined && value !== "") kept[name] = value;
  }
  return kept;
}

function isElicitation(kind: string): boolean {
  return kind === "form" || kind === "page";
}

function problemOf(each: Field, value: ElicitationContentValue | undefined): string | undefined {
  const empty = value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  if (empty) return each.required ? "This is needed." : undefined;
  switch (each.type) {
    case "text":
      return textProblem(each, value);
    case "number":
      return numberProblem(each, value);
    case "boolean":
      return typeof value === "boolean" ? undefined : "Yes or no.";
    case "choice":
      return each.choices.some((choice) => choice.value === value) ? undefined : "Choose one of the list.";
    case "choices":
      return choicesProblem(each, value);
  }
}

function textProblem(each: Extract<Field, { type: "text" }>, value: unknown): string | undefined {
  if (typeof value !== "string") return "Text is needed.";
  if (each.minLength !== undefined && value.length < each.minLength) return `At least ${each.minLength} characters.`;
  if (each.maxLength !== undefined && value.length > each.maxLength) return `At most ${each.maxLength} characters.`;
  if (each.format === "uri" && !URL.canParse(value)) return "A web address is needed.";
  if (each.format === "email" && !/^[^\s@]+@[^\s@]+$/.test(value)) return "An e-mail address is needed.";
  return undefined;
}

function numberProblem(each: Extract<Field, { type: "number" }>, value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return "A number is needed.";
  if (each.integer && !Number.isInteger(value)) return "A whole number is needed.";
  if (each.minimum !== undefined && value < each.minimum) return `At least ${each.minimum}.`;
  if (each.maximum !== undefined && value > each.maximum) return `At most ${each.maximum}.`;
  return undefined;
}

function choicesProblem(each: Extract<Field, { type: "choices" }>, value: unknown): string | undefined {
  const offered = new Set(each.choices.map((choice) => choice.value));
  if (!Array.isArray(value) || !value.every((one) => offered.has(String(one)))) return "Choose from the list.";
  if (each.minItems !== undefined && value.length < each.minItems) return `Choose at least ${each.minItems}.`;
  if (each.maxItems !== undefined && value.length > each.maxItems) return `Choose at most ${each.maxItems}.`;
  return undefined;
}

interface Loose {
  readonly type: string;
  readonly [key: string]: unknown;
}

function field(name: string, property: ElicitationPropertySchema, required: boolean): Field {
  const given = property as Loose;
  const base = { name, title: text(given["title"]) ?? name, description: text(given["description"]) ?? "", required };
  switch (given.type) {
    case "boolean":
      return { ...base, type: "boolean", ...defined({ initial: flag(given["default"]) }) };
    case "number":
    case "integer":
      return { ...base, type: "number", integer: given.type === "integer", ...range(given) };
    case "array":
      return { ...base, type: "choices", choices: itemsOf(given["items"]), ...limits(given) };
    default:
      return { ...base, ...textField(given) };
  }
}

type About = "name" | "title" | "description" | "required";
type TextLike = Omit<Extract<Field, { type: "text" }>, About> | Omit<Extract<Field, { type: "choice" }>, About>;

function textField(given: Loose): TextLike {
  const choices = [...titled(given["oneOf"]), ...plainChoices(given["enum"])];
  const initial = text(given["default"]);
  if (choices.length) return { type: "choice", choices, ...defined({ initial }) };
  const { minLength, maxLength } = { minLength: number(given["minLength"]), maxLength: number(given["maxLength"]) };
  return { type: "text", ...defined({ initial, minLength, maxLength, format: text(given["format"]) }) };
}

function range(given: Loose): { minimum?: number; maximum?: number; initial?: number } {
  const minimum = number(given["minimum"]);
  const maximum = number(given["maximum"]);
  return defined({ minimum, maximum, initial: number(given["default"]) });
}

function limits(given: Loose): { minItems?: number; maxItems?: number; initial?: readonly string[] } {
  const initial = Array.isArray(given["default"]) ? given["default"].map(String) : undefined;
  return defined({ minItems: number(given["minItems"]), maxItems: number(given["maxItems"]), initial });
}

function itemsOf(items: unknown): FieldChoice[] {
  if (typeof items !== "object" || items === null) return [];
  const { anyOf, enum: words } = items as { anyOf?: unknown; enum?: unknown };
  return [...titled(anyOf), ...plainChoices(words)];
}

function titled(options: unknown): FieldChoice[] {
  if (!Array.isArray(options)) return [];
  return options.flatMap((option: { const?: unknown; title?: unknown } | null) =>
    typeof option?.const === "string" ? [{ value: option.const, title: text(option.title) ?? option.const }] : [],
  );
}

function plainChoices(words: unknown): FieldChoice[] {
  if (!Array.isArray(words)) return [];
  return words.filter((word) => typeof word === "string").map((word) => ({ value: word, title: word }));
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>;
}
