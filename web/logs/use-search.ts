import { useDeferredValue, useMemo, useRef } from 'react';
import { plainText, searcher, type Lines } from './lines.ts';

interface Scanned {
  lines: Lines;
  typed: string;
  /** Indices from the very first line on, dropped ones included. */
  found: number[];
  upTo: number;
}

/** Indices of the lines that match what is typed; new lines are looked at once. */
export const useSearch = (lines: Lines, version: number, typed: string): readonly number[] => {
  const wanted = useDeferredValue(typed);
  const scanned = useRef<Scanned>(undefined);
  return useMemo(() => {
    const find = searcher(wanted);
    if (find === undefined) return [];
    const before = scanned.current;
    const state: Scanned =
      before?.lines === lines && before.typed === wanted
        ? before
        : { lines, typed: wanted, found: [], upTo: lines.dropped };
    scanned.current = state;
    const { all, dropped } = lines;
    for (let index = Math.max(state.upTo, dropped); index < dropped + all.length; index += 1) {
      const line = all[index - dropped];
      if (line !== undefined && find(plainText(line)) !== -1) state.found.push(index);
    }
    state.upTo = dropped + all.length;
    const gone = state.found.findIndex((index) => index >= dropped);
    if (gone > 0) state.found = state.found.slice(gone);
    else if (gone === -1) state.found = [];
    return state.found.map((index) => index - dropped);
    // `lines` changes inside; `version` tells when.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [lines, version, wanted]);
};
