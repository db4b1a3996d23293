import { useEffect, useRef, useState } from 'react';
import type { LogListHandle } from './log-list.tsx';

const WRAP_KEY = 'berth.logs.wrap';

/** Whether long lines are wrapped, as this browser remembers it. */
export const useWrap = (): [boolean, (wrap: boolean) => void] => {
  const [wrap, setWrap] = useState(() => localStorage.getItem(WRAP_KEY) === 'yes');
  return [
    wrap,
    (next) => {
      localStorage.setItem(WRAP_KEY, next ? 'yes' : 'no');
      setWrap(next);
    },
  ];
};

/** How many lines came since the reader stopped to follow. */
export const useFresh = (total: number, follow: boolean): number => {
  const seen = useRef(total);
  if (follow) seen.current = total;
  return Math.max(0, total - seen.current);
};

/** Brings the line that the address names into view, once it is there. */
export const useMarked = (
  list: { current: LogListHandle | null },
  { marked, ready, indexOf }: { marked: number; ready: boolean; indexOf: (seq: number) => number },
): void => {
  const done = useRef(-1);
  useEffect(() => {
    if (!ready || marked === -1 || done.current === marked) return;
    done.current = marked;
    list.current?.show(indexOf(marked));
  });
};
