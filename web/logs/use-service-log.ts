import type { LiveEvent } from '#modules/live';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { ApiError, asApiError } from '../api.ts';
import { follow } from '../live.ts';
import { readStored } from './history.ts';
import { createLines, type Lines, type NumberedLine } from './lines.ts';

/** What of a service's log is wanted. */
export interface LogWish {
  project: string;
  service: string;
  /** Empty for all. */
  replica: string;
  release: string;
  /** From this time on (RFC 3339); empty for the newest `tail`. */
  since: string;
  tail: number;
}

export interface ServiceLogView {
  lines: Lines;
  /** `live`: goes on as lines come; `window`: ends before now, because there are more than are kept. */
  state: 'loading' | 'live' | 'window';
  error: ApiError | undefined;
  /** Changes as lines come. */
  version: number;
  again: () => void;
}

const none = createLines();

/** Reads what is stored, then goes on with what comes: nothing is left out or repeated in between. */
export const useServiceLog = ({ project, service, replica, release, since, tail }: LogWish): ServiceLogView => {
  const [view, setView] = useState<Omit<ServiceLogView, 'version' | 'again'>>({
    lines: none,
    state: 'loading',
    error: undefined,
  });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    let stop = (): void => undefined;
    const passes = (line: NumberedLine): boolean =>
      (replica === '' || line.replica === replica) && (release === '' || line.release === release);
    const lines = createLines(passes);
    setView({ lines, state: 'loading', error: undefined });
    const begin = async (): Promise<void> => {
      // The filtered lines may end long ago: what comes next begins behind the newest of all.
      const newest =
        replica === '' && release === '' ? undefined : await newestSeq({ project, service }, controller.signal);
      const query = { replica, release, ...(since === '' ? { tail } : { since }) };
      const { cut } = await readStored({ project, service, query }, (batch) => lines.append(batch), controller.signal);
      if (controller.signal.aborted) return;
      if (cut) return setView({ lines, state: 'window', error: undefined });
      const after = Math.max(newest ?? -1, lines.lastSeq() ?? -1);
      stop = follow(
        `logs:${project}/${service}`,
        { events: (events) => take(lines, events, (error) => setView({ lines, state: 'live', error })) },
        after === -1 ? null : String(after),
      );
      setView({ lines, state: 'live', error: undefined });
      return undefined;
    };
    begin().catch((thrown: unknown) => {
      if (!controller.signal.aborted) setView({ lines, state: 'window', error: asApiError(thrown) });
    });
    return () => {
      controller.abort();
      stop();
    };
  }, [project, service, replica, release, since, tail, attempt]);
  const { lines } = view;
  const version = useSyncExternalStore(lines.subscribe, () => lines.version);
  return { ...view, version, again: () => setAttempt(attempt + 1) };
};

const take = (lines: Lines, events: readonly LiveEvent[], fail: (error: ApiError) => void): void => {
  for (const event of events) {
    if (event.kind === 'lines') lines.append(event.lines.filter((line) => 'replica' in line));
    else if (event.kind === 'problem') fail(new ApiError(event.error, 0));
  }
};

const newestSeq = async (
  of: { project: string; service: string },
  signal: AbortSignal,
): Promise<number | undefined> => {
  let seq: number | undefined;
  await readStored({ ...of, query: { tail: 1 } }, (batch) => (seq = batch.at(-1)?.seq), signal);
  return seq;
};
