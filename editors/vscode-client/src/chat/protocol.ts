/** What the extension and the webview say to each other. */

import type { CommandView, Entry, OptionView, Place, Queued, TerminalView, Usage } from "../state/model.ts";
import type { Problem } from "./store.ts";

/** A hunk of a changed file, as it is drawn: a sign and the text of each line. */
export interface Hunk {
  readonly header: string;
  readonly lines: readonly string[];
}

/** A changed file as the webview sees it. */
export interface ChangeView {
  readonly path: string;
  readonly shown: string;
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly Hunk[];
  readonly isNew: boolean;
}

/** A place, and how it is written for someone who works in the folder. */
export interface PlaceView extends Place {
  readonly shown: string;
}

type WithViews<T> = T extends { kind: "diff" } ? { readonly kind: "diff"; readonly change: ChangeView } : T;
type CardEntry = Extract<Entry, { kind: "card" }>;

export type CardPartView = WithViews<CardEntry["parts"][number]>;
export type CardView = Omit<CardEntry, "parts" | "places"> & {
  readonly parts: readonly CardPartView[];
  readonly places: readonly PlaceView[];
};
export type EntryView = Exclude<Entry, CardEntry> | CardView;

export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly running: boolean;
  readonly asks: boolean;
}

/** Something that goes with the next prompt. */
export interface Attachment {
  readonly id: string;
  readonly kind: "file" | "selection" | "problem";
  readonly label: string;
}

/** All that is around the conversation. */
export interface Frame {
  readonly tabs: readonly Tab[];
  readonly active: string | undefined;
  /** The agent by its name; undefined before it has told it. */
  readonly agent: string | undefined;
  /** The name of the folder that the session works in. */
  readonly folder: string;
  readonly problem: Problem | undefined;
  readonly phase: "none" | "idle" | "running" | "loading";
  readonly status: string;
  readonly options: readonly OptionView[];
  readonly commands: readonly CommandView[];
  readonly queue: readonly Queued[];
  readonly usage: Usage | undefined;
  readonly images: boolean;
  readonly canUndo: boolean;
  readonly attachments: readonly Attachment[];
  readonly selection: string | undefined;
}

export interface PastSession {
  readonly id: string;
  readonly cwd: string;
  readonly title: string;
  readonly updated: string;
}

/** A change of the list of entries. */
export type Patch =
  | { readonly op: "put"; readonly entry: EntryView }
  | { readonly op: "grow"; readonly id: string; readonly text: string }
  | { readonly op: "drop"; readonly before: string };

export type ToWebview =
  | { readonly type: "frame"; readonly frame: Frame }
  | { readonly type: "reset"; readonly session: string | undefined; readonly dropped: number }
  | { readonly type: "patch"; readonly session: string; readonly patches: readonly Patch[] }
  | { readonly type: "terminal"; readonly id: string; readonly view: TerminalView }
  | { readonly type: "history"; readonly sessions: readonly PastSession[]; readonly next: string | undefined }
  | { readonly type: "files"; readonly query: string; readonly files: readonly string[] }
  | { readonly type: "draft"; readonly text: string; readonly images: readonly Image[] }
  | { readonly type: "focus"; readonly where: "prompt" | "question" | "history" };

export interface Image {
  readonly mimeType: string;
  readonly data: string;
}

export type FromWebview =
  | { readonly type: "ready" }
  | { readonly type: "send"; readonly text: string; readonly images: readonly Image[]; readonly selection: boolean }
  | { readonly type: "stop" }
  | { readonly type: "undo" }
  | { readonly type: "answer"; readonly question: string; readonly option: string }
  | { readonly type: "dismiss"; readonly question: string }
  | { readonly type: "reject"; readonly question: string; readonly comment: string }
  | { readonly type: "elicited"; readonly question: string; readonly action: "accept" | "decline" | "cancel"; readonly values: Readonly<Record<string, string | number | boolean | string[]>> }
  | { readonly type: "setOption"; readonly id: string; readonly value: string | boolean }
  | { readonly type: "select"; readonly session: string }
  | { readonly type: "close"; readonly session: string }
  | { readonly type: "new" }
  | { readonly type: "history"; readonly cursor?: string }
  | { readonly type: "load"; readonly session: string; readonly cwd: string; readonly title: string }
  | { readonly type: "delete"; readonly session: string; readonly title: string }
  | { readonly type: "openFile"; readonly place: Place }
  | { readonly type: "openDiff"; readonly entry: string; readonly part: number }
  | { readonly type: "revert"; readonly entry: string; readonly part: number }
  | { readonly type: "openLink"; readonly href: string }
  | { readonly type: "copy"; readonly text: string }
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "unqueue"; readonly id: string }
  | { readonly type: "findFiles"; readonly query: string }
  | { readonly type: "detach"; readonly id: string }
  | { readonly type: "problem"; readonly action: string };
