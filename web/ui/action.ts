import { useRef, useState } from 'react';

interface Action {
  busy: boolean;
  /** What the last one failed with, until another begins; for ErrorLine. */
  error: unknown;
  /** Does something and tells how that goes. Undefined when it failed, or when another is under way: a form is sent once. */
  run: <T>(work: () => Promise<T>) => Promise<T | undefined>;
  /** Forgets the failure, when what it was about has changed. */
  clear: () => void;
}

/** What a button or a form does with the API, one at a time: whether it is under way, and why it failed. */
export const useAction = (): Action => {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const under = useRef(false);
  const run = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    if (under.current) return undefined;
    under.current = true;
    setBusy(true);
    setError(undefined);
    try {
      return await work();
    } catch (thrown) {
      setError(thrown);
      return undefined;
    } finally {
      under.current = false;
      setBusy(false);
    }
  };
  return { busy, error, run, clear: () => setError(undefined) };
};
