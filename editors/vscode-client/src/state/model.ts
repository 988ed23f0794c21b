/** What a session looks like to the person: plain data that reducers make and the webview draws. */

export type CardStatus = "pending" | "in_progress" | "completed" | "failed";
export type OptionKind = "allow_once" | "allow_always" | "reject_once" | "reject_always";

export interface Place {
  readonly path: string;
  readonly line?: number;
}

export interface Picture {
  readonly mimeType: string;
  readonly data: string;
}

/** A changed file. The texts stay in the extension; the webview gets the hunks. */
export interface Change {
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
}

export type CardPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image"; readonly picture: Picture }
  | { readonly kind: "link"; readonly name: string; readonly uri: string }
  | { readonly kind: "diff"; readonly change: Change }
  | { readonly kind: "terminal"; readonly terminalId: string };

export interface Choice {
  readonly id: string;
  readonly name: string;
  readonly kind: OptionKind;
}

/** An open question of permission in a card. */
export interface Permission {
  readonly questionId: string;
  readonly choices: readonly Choice[];
  /** The exact command, when the agent names one. */
  readonly command?: string;
}

export interface Card {
  readonly kind: "card";
  readonly id: string;
  readonly callId: string;
  readonly title: string;
  readonly tool: string;
  readonly status: CardStatus;
  readonly parts: readonly CardPart[];
  readonly places: readonly Place[];
  readonly command?: string;
  readonly permission?: Permission;
  readonly answer?: string;
  /** The person has said no. */
  readonly refused?: boolean;
}

export interface Form {
  readonly kind: "form";
  readonly id: string;
  readonly questionId: string;
  readonly message: string;
  readonly fields: readonly Field[];
  readonly outcome?: string;
}

/** A page that the agent asks to open; the host is what the person judges. */
export interface Page {
  readonly kind: "page";
  readonly id: string;
  readonly questionId: string;
  readonly message: string;
  readonly url: string;
  readonly host: string;
  readonly outcome?: string;
}

export interface FieldChoice {
  readonly value: string;
  readonly title: string;
}

interface FieldBase {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly required: boolean;
}

export type Field = FieldBase &
  (
    | {
        readonly type: "text";
        readonly format?: string;
        readonly minLength?: number;
        readonly maxLength?: number;
        readonly initial?: string;
      }
    | {
        readonly type: "number";
        readonly integer: boolean;
        readonly minimum?: number;
        readonly maximum?: number;
        readonly initial?: number;
      }
    | { readonly type: "boolean"; readonly initial?: boolean }
    | { readonly type: "choice"; readonly choices: readonly FieldChoice[]; readonly initial?: string }
    | {
        readonly type: "choices";
        readonly choices: readonly FieldChoice[];
        readonly minItems?: number;
        readonly maxItems?: number;
        readonly initial?: readonly string[];
      }
  );

export interface UserEntry {
  readonly kind: "user";
  readonly id: string;
  readonly text: string;
  readonly pictures: readonly Picture[];
  readonly links: readonly { readonly name: string; readonly uri: string }[];
  readonly messageId?: string;
}

export interface AgentEntry {
  readonly kind: "agent";
  readonly id: string;
  readonly text: string;
  readonly messageId?: string;
}

export interface ThoughtEntry {
  readonly kind: "thought";
  readonly id: string;
  readonly text: string;
  readonly messageId?: string;
  /** Milliseconds since the epoch; absent in a replay, whose times say nothing. */
  readonly began?: number;
  readonly ended?: number;
}

export interface PlanEntry {
  readonly kind: "plan";
  readonly id: string;
  readonly steps: readonly { readonly text: string; readonly status: "pending" | "in_progress" | "completed" }[];
}

export interface NoticeEntry {
  readonly kind: "notice";
  readonly id: string;
  readonly severity: "info" | "warning" | "error";
  readonly text: string;
}

export type Entry = UserEntry | AgentEntry | ThoughtEntry | PlanEntry | NoticeEntry | Card | Form | Page;

export interface OptionValue {
  readonly value: string;
  readonly name: string;
  readonly description?: string;
  readonly group?: string;
}

/** A picker above the prompt: mode, model, thought level or what else the agent offers. */
export type OptionView =
  | {
      readonly type: "select";
      readonly id: string;
      readonly name: string;
      readonly category: string;
      readonly value: string;
      readonly values: readonly OptionValue[];
    }
  | {
      readonly type: "boolean";
      readonly id: string;
      readonly name: string;
      readonly category: string;
      readonly value: boolean;
    };

export interface CommandView {
  readonly name: string;
  readonly description: string;
  readonly hint: string;
}

export interface Usage {
  readonly used: number;
  readonly size: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
}

export interface Queued {
  readonly id: string;
  readonly text: string;
}

/** What a terminal of the agent shows. */
export interface TerminalView {
  readonly text: string;
  readonly ended?: string;
}

export interface SessionState {
  readonly id: string;
  readonly cwd: string;
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly dropped: number;
  readonly next: number;
  readonly options: readonly OptionView[];
  readonly modesOnly: boolean;
  readonly commands: readonly CommandView[];
  readonly usage?: Usage;
  readonly status: string;
  readonly queue: readonly Queued[];
  readonly terminals: Readonly<Record<string, TerminalView>>;
  /** What is going on: nothing, a turn, or a replay of the past. */
  readonly phase: "idle" | "running" | "loading";
}

/** A session before anything has happened in it. */
export function emptySession(id: string, cwd: string): SessionState {
  return {
    id,
    cwd,
    title: "",
    entries: [],
    dropped: 0,
    next: 1,
    options: [],
    modesOnly: false,
    commands: [],
    status: "",
    queue: [],
    terminals: {},
    phase: "idle",
  };
}
