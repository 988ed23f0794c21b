/** Tells the webview what has changed: only that, and not more often than one can see. */

import type { Card, Entry, SessionState, TerminalView } from "../state/model.ts";
import { changeView, shownPath } from "./changes.ts";
import type { CardPartView, EntryView, Frame, Patch, PlaceView, ToWebview } from "./protocol.ts";
import type { StoreState } from "./store.ts";

/** Milliseconds between two messages about the conversation. */
const PACE = 33;

type Post = (message: ToWebview) => void;

export class Publisher {
  readonly #post: Post;
  readonly #frame: (state: StoreState) => Frame;
  #state: StoreState | undefined;
  #shownSession: string | undefined;
  #shown: readonly Entry[] = [];
  #terminals: Readonly<Record<string, TerminalView>> = {};
  #frameText = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(post: Post, frame: (state: StoreState) => Frame) {
    this.#post = post;
    this.#frame = frame;
  }

  /** Takes a new state; it is told within the pace. */
  take(state: StoreState): void {
    this.#state = state;
    this.#timer ??= setTimeout(() => {
      this.flush();
    }, PACE);
  }

  /** Tells everything anew: the webview has just been made. */
  restart(state: StoreState): void {
    this.#frameText = "";
    this.#reset(undefined);
    this.#post({ type: "reset", session: undefined, dropped: 0 });
    this.take(state);
    this.flush();
  }

  /** Tells what has changed since the last time, now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#state) return;
    this.#tellFrame(this.#state);
    this.#tellSession(this.#state.active === undefined ? undefined : this.#state.sessions.get(this.#state.active));
  }

  #tellFrame(state: StoreState): void {
    const frame = this.#frame(state);
    const text = JSON.stringify(frame);
    if (text === this.#frameText) return;
    this.#frameText = text;
    this.#post({ type: "frame", frame });
  }

  #tellSession(session: SessionState | undefined): void {
    if (session?.id !== this.#shownSession || begunAnew(this.#shown, session?.entries ?? [])) {
      this.#reset(session?.id);
      this.#post({ type: "reset", session: session?.id, dropped: session?.dropped ?? 0 });
    }
    if (!session) return;
    const patches = patchesBetween(this.#shown, session.entries, session.cwd);
    this.#shown = session.entries;
    if (patches.length) this.#post({ type: "patch", session: session.id, patches });
    this.#tellTerminals(session.terminals);
  }

  #tellTerminals(terminals: Readonly<Record<string, TerminalView>>): void {
    for (const [id, view] of Object.entries(terminals)) {
      if (this.#terminals[id] !== view) this.#post({ type: "terminal", id, view });
    }
    this.#terminals = terminals;
  }

  #reset(session: string | undefined): void {
    this.#shownSession = session;
    this.#shown = [];
    this.#terminals = {};
  }
}

/** What turns one list of entries into the other. */
export function patchesBetween(before: readonly Entry[], after: readonly Entry[], cwd: string): Patch[] {
  const [first, firstBefore] = [after[0], before[0]];
  const patches: Patch[] = [];
  if (first && firstBefore && first.id !== firstBefore.id) patches.push({ op: "drop", before: first.id });
  const known = new Map(before.map((entry) => [entry.id, entry]));
  for (const entry of after) {
    const old = known.get(entry.id);
    if (old !== entry) patches.push(patchOf(old, entry, cwd));
  }
  return patches;
}

function patchOf(before: Entry | undefined, entry: Entry, cwd: string): Patch {
  const grown = before ? grownBy(before, entry) : undefined;
  return grown === undefined ? { op: "put", entry: entryView(entry, cwd) } : { op: "grow", id: entry.id, text: grown };
}

/** The text that was added, when nothing else has changed. */
function grownBy(before: Entry, after: Entry): string | undefined {
  const grows = (after.kind === "agent" && before.kind === "agent") || (after.kind === "thought" && before.kind === "thought");
  if (!grows || !after.text.startsWith(before.text)) return undefined;
  if (after.kind === "thought" && before.kind === "thought" && after.ended !== before.ended) return undefined;
  return after.text.slice(before.text.length);
}

function begunAnew(before: readonly Entry[], after: readonly Entry[]): boolean {
  const last = before.at(-1);
  return last !== undefined && !after.some((entry) => entry.id === last.id);
}

function entryView(entry: Entry, cwd: string): EntryView {
  return entry.kind === "card" ? { ...entry, parts: partViews(entry, cwd), places: placeViews(entry, cwd) } : entry;
}

/** The places, but for the files whose changes are shown anyway. */
function placeViews(card: Card, cwd: string): PlaceView[] {
  const changed = new Set(card.parts.flatMap((part) => (part.kind === "diff" ? [part.change.path] : [])));
  const others = card.places.filter(({ path }) => !changed.has(path));
  return others.map((place) => ({ ...place, shown: shownPath(place.path, cwd) }));
}

function partViews(card: Card, cwd: string): CardPartView[] {
  return card.parts.map((part) => (part.kind === "diff" ? { kind: "diff", change: changeView(part.change, cwd) } : part));
}
