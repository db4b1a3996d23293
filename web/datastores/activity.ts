import { useSyncExternalStore } from 'react';

/** The operation last seen on each datastore: its outcome stays in view when one goes to another tab of the page. */
const seen = new Map<string, string>();
const listeners = new Set<() => void>();

const keyOf = (project: string, datastore: string): string => `${project}/${datastore}`;

const set = (key: string, operation: string | undefined): void => {
  if (operation === undefined) seen.delete(key);
  else seen.set(key, operation);
  for (const listener of listeners) listener();
};

export const watchOperation = (project: string, datastore: string, operation: string | null): void => {
  if (operation !== null && seen.get(keyOf(project, datastore)) !== operation)
    set(keyOf(project, datastore), operation);
};

export const dismissOperation = (project: string, datastore: string): void => set(keyOf(project, datastore), undefined);

export const useWatchedOperation = (project: string, datastore: string): string | undefined =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => seen.get(keyOf(project, datastore)),
  );
