/** The list of entries: adding, replacing, and a bound on how many are kept. */

import type { Entry, SessionState } from "./model.ts";

/** Older entries are let go beyond this; the agent still has them. */
export const MOST_ENTRIES = 2000;

type Fresh<T> = T extends Entry ? Omit<T, "id"> : never;

/** The session with one entry more. */
export function append(state: SessionState, fresh: Fresh<Entry>): SessionState {
  const entry = { ...fresh, id: `e${state.next}` } as Entry;
  const surplus = Math.max(0, state.entries.length + 1 - MOST_ENTRIES);
  return {
    ...state,
    entries: [...state.entries.slice(surplus), entry],
    dropped: state.dropped + surplus,
    next: state.next + 1,
  };
}

/** The session with the entry at an index changed. */
export function replaceAt(state: SessionState, index: number, entry: Entry): SessionState {
  return { ...state, entries: state.entries.with(index, entry) };
}

/** The index of the last entry that holds; -1 without one. */
export function lastIndex(state: SessionState, holds: (entry: Entry) => boolean): number {
  return state.entries.findLastIndex(holds);
}
