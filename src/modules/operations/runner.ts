import { BerthError } from '#kernel/errors';
import { createExecution, STOPPING, type RunnerDeps } from './execution.ts';
import { holdsBack } from './lanes.ts';
import type { OperationRow } from './store.ts';

export interface Runner {
  wake(id: string, reason: 'queued' | BerthError): void;
  /** Takes up what an earlier process left open. Call once, after the engines are there. */
  resume(): void;
  /** Aborts what runs, and waits for it. */
  stop(): Promise<void>;
  /** Operations running now. */
  running(): number;
}

/**
 * Runs operations. Those of one service or datastore go one after the other, in order of their ids; one on a whole project waits for all
 * of the project's, and holds back those behind it.
 */
export const createRunner = (deps: RunnerDeps): Runner => {
  const { store, journal } = deps;
  const stopping = new AbortController();
  const execution = createExecution({ ...deps, stopping: stopping.signal });
  const active = new Map<string, { abort: AbortController; done: Promise<void> }>();
  let started = false;

  const start = (row: OperationRow): void => {
    const abort = new AbortController();
    const entry = { abort, done: Promise.resolve() };
    active.set(row.id, entry);
    if (row.cancel_requested === 1) abort.abort(canceled());
    entry.done = execution.run(row, abort.signal).finally(() => {
      active.delete(row.id);
      schedule();
    });
  };

  const schedule = (): void => {
    if (stopping.signal.aborted || !started) return;
    const open = store.open();
    for (const [index, row] of open.entries()) {
      if (!active.has(row.id) && !open.slice(0, index).some((earlier) => holdsBack(earlier, row))) start(row);
    }
  };

  const cancel = (id: string, why: BerthError): void => {
    const running = active.get(id);
    const row = store.get(id);
    if (running !== undefined) running.abort.abort(why);
    else if (row?.status === 'queued') execution.end(row, why);
  };

  return {
    wake: (id, reason) => {
      if (reason !== 'queued') cancel(id, reason);
      else if (!started) journal.log(id, 'berth', WAITING);
      schedule();
    },
    resume: () => {
      started = true;
      schedule();
    },
    stop: async () => {
      stopping.abort(STOPPING);
      for (const { abort } of active.values()) abort.abort(STOPPING);
      await Promise.all([...active.values()].map(({ done }) => done));
      journal.flush();
    },
    running: () => active.size,
  };
};

const WAITING = 'waiting until the server has its engine, proxy and registry: GET /v1/health says what is missing';

export const canceled = (): BerthError =>
  new BerthError('CONFLICT', 'the operation was canceled', { hint: 'start it again when you want it after all' });
