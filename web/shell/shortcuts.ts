import { useEffect, useRef } from 'react';

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** How the palette's key is written on this machine. */
export const PALETTE_KEYS = isApple ? '⌘K' : 'Ctrl K';

/** Asked of the innermost target: editors live in shadow roots. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** How long the second key of a pair may take. */
const PAIR_MS = 1200;

/**
 * Keys of a page: `{ r: restart, 'g p': toProjects }`. They rest while somebody types, while a dialog is open, and while
 * a modifier is held.
 */
export const useShortcuts = (keys: Record<string, () => void>): void => {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    let first = '';
    let at = 0;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.composedPath()[0] ?? null)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      const pair = event.timeStamp - at < PAIR_MS ? `${first} ${event.key}` : event.key;
      const run = latest.current[pair] ?? latest.current[event.key];
      first = event.key;
      at = event.timeStamp;
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
