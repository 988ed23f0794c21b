/** The pickers: from config options, or from the older modes of an agent that has no options. */

import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { OptionValue, OptionView, SessionState } from "./model.ts";

/** The id of the picker that is made of an agent's modes. */
export const MODES = "mode";

export interface Opened {
  readonly configOptions?: SessionConfigOption[] | null;
  readonly modes?: SessionModeState | null;
}

/** The session with the pickers that the answer of new or load names; config options go before modes. */
export function withOpened(state: SessionState, opened: Opened | null | undefined): SessionState {
  if (opened?.configOptions?.length) return withOptions(state, opened.configOptions);
  const modes = opened?.modes;
  return modes ? { ...state, options: [fromModes(modes)], modesOnly: true } : state;
}

/** The session after `config_option_update`, or the answer of set_config_option: whole list each time. */
export function withOptions(state: SessionState, options: readonly SessionConfigOption[]): SessionState {
  return { ...state, modesOnly: false, options: options.flatMap(optionView) };
}

/** The session after `current_mode_update`. */
export function withMode(state: SessionState, modeId: string): SessionState {
  const options = state.options.map((option) =>
    option.type === "select" && option.category === "mode" ? { ...option, value: modeId } : option,
  );
  return { ...state, options };
}

function optionView(option: SessionConfigOption): OptionView[] {
  const { id, name } = option;
  const category = option.category ?? "";
  if (option.type === "boolean") return [{ type: "boolean", id, name, category, value: option.currentValue }];
  // An agent may be newer than this client.
  if ((option.type as string) !== "select") return [];
  return [{ type: "select", id, name, category, value: option.currentValue, values: option.options.flatMap(values) }];
}

type SelectEntry = Extract<SessionConfigOption, { type: "select" }>["options"][number];

function values(entry: SelectEntry): OptionValue[] {
  if ("options" in entry) return entry.options.map((each) => ({ ...value(each), group: entry.name }));
  return [value(entry)];
}

function value(each: { value: string; name: string; description?: string | null }): OptionValue {
  return { value: each.value, name: each.name, ...(each.description ? { description: each.description } : {}) };
}

function fromModes(modes: SessionModeState): OptionView {
  return {
    type: "select",
    id: MODES,
    name: "Mode",
    category: "mode",
    value: modes.currentModeId,
    values: modes.availableModes.map((mode) => value({ ...mode, value: mode.id })),
  };
}
