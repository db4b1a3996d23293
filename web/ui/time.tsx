import { useSyncExternalStore } from 'react';
import { ago, duration, exactly } from './format.ts';

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
};

/** The time, told every second by one timer for the whole page. */
export const useNow = (): number => {
  if (timer === undefined) now = Date.now();
  return useSyncExternalStore(subscribe, () => now);
};

/** A point in time as its distance from now; exactly in the tooltip. */
export const Ago = ({ at }: { at: string }) => {
  const current = useNow();
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exactly(time)} className="nowrap">
      {ago(time, current)}
    </time>
  );
};

/** How long something took, or has been taking. */
export const Took = ({ from, to }: { from: string; to: string | null }) => {
  const current = useNow();
  const end = to === null ? current : Date.parse(to);
  return <span className="nowrap">{duration(end - Date.parse(from))}</span>;
};
