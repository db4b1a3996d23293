import { useState } from 'react';
import { useSearchChange } from '../data/search.ts';

const FIRST_TAIL = 2_000;

/** What is shown of a log, as it stands in the address. */
export interface LogChoices {
  replica: string;
  release: string;
  /** RFC 3339; empty for the newest. */
  since: string;
  tail: number;
  /** Sequence number of the line that a link means; -1 for none. */
  line: number;
  typed: string;
  /** Changes parameters; empty ones go. */
  set: (change: Partial<Record<'replica' | 'release' | 'since' | 'tail' | 'line', string>>) => void;
  setTyped: (typed: string) => void;
}

export const useLogChoices = (): LogChoices => {
  const [search, change] = useSearchChange();
  // Typed letters go into the address too late to be shown from there.
  const [typed, setTyped] = useState(search.get('q') ?? '');
  return {
    replica: search.get('replica') ?? '',
    release: search.get('release') ?? '',
    since: timeOf(search.get('since')),
    tail: wholeOf(search.get('tail'), FIRST_TAIL),
    line: wholeOf(search.get('line'), -1),
    typed,
    set: change,
    setTyped: (next) => {
      setTyped(next);
      change({ q: next });
    },
  };
};

const timeOf = (text: string | null): string => {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? '' : new Date(time).toISOString();
};

const wholeOf = (text: string | null, otherwise: number): number => {
  const value = Number(text ?? '');
  return text !== null && Number.isInteger(value) && value >= 0 && value <= 1e15 ? value : otherwise;
};
