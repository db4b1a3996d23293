import { useSyncExternalStore } from 'react';

export type Theme = 'auto' | 'light' | 'dark';

/** `theme.ts` reads it before the first paint. */
const KEY = 'berth.theme';
const listeners = new Set<() => void>();

const read = (): Theme => {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'auto';
};

export const setTheme = (theme: Theme): void => {
  if (theme === 'auto') {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset['theme'];
  } else {
    localStorage.setItem(KEY, theme);
    document.documentElement.dataset['theme'] = theme;
  }
  for (const listener of listeners) listener();
};

export const useTheme = (): Theme =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, read);
