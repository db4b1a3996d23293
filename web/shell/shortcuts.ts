import { useEffect, useRef } from 'react';

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** How the palette's key is written on this machine. */
export const PALETTE_KEYS = isApple ? '⌘K' : 'Ctrl K';

/** Asked of the innermost target: editors live in shadow roots. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** How long the second key of a pair may take. */
const PAIR_MS = 1200;
/** Begins every pair: what follows it is never a key of its own. */
const LEADER = 'g';

/**
 * Keys of a page: `{ r: restart, 'g p': toProjects }`. They rest while somebody types, while a dialog is open, and while
 * a modifier is held.
 */
export const useShortcuts = (keys: Record<string, () => void>): void => {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    let led = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.composedPath()[0] ?? null)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      const pair = event.timeStamp - led < PAIR_MS ? `${LEADER} ${event.key}` : event.key;
      led = pair === LEADER ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const run = latest.current[pair];
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
};

/** ⌘K or Ctrl+K, wherever the focus is. */
export const usePaletteKey = (open: () => void): void => {
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(isApple ? event.metaKey : event.ctrlKey)) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
};
