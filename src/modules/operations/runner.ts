import type { Clock } from '#kernel/clock';
import { BerthError, messageOf, toBerthError, type ErrorBody } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { Journal } from './journal.ts';
import type { LogSource, OperationKind, Phase } from './model.ts';
import type { Checkpoint, OperationRow, OperationStore } from './store.ts';

/** What an executor works with. */
export interface Run {
  id: string;
  kind: OperationKind;
  project: string;
  /** Empty for operations on a whole project. */
  service: string;
  /** Principal who asked for it. */
  actor: string;
  input: Record<string, unknown>;
  /** What an earlier attempt reached; null at the first. */
  checkpoint: Checkpoint | null;
  /** 1 for the first try; more after berth was restarted in the middle. */
  attempt: number;
  /** Aborts with a BerthError when the operation is canceled, or with STOPPING when berth shuts down. */
  signal: AbortSignal;
  log(source: LogSource, line: string): void;
  phase(phase: Phase, message: string): void;
  /** Writes how far it got; call it inside the transaction that makes it so. */
  saveCheckpoint(checkpoint: Checkpoint): void;
}

/** How an operation ended; thrown errors end it as `failed`. */
export interface Outcome {
  phase: 'healthy' | 'rolled_back' | 'failed';
  error: BerthError | null;
  result: Record<string, unknown> | null;
}

export type Executor = (run: Run) => Promise<Outcome>;

/** Abort reason when berth itself stops: the operation stays open and goes on at the next start. */
export const STOPPING = new BerthError('INTERNAL_ERROR', 'berth is shutting down', {
  hint: 'wait until it is back',
  retryable: true,
});

const MAX_ATTEMPTS = 3;

export interface Runner {
  wake(id: string, reason: 'queued' | 'canceled'): void;
  /** Takes up what an earlier process left open. Call once, after the engines are there. */
  resume(): void;
  /** Aborts what runs, and waits for it. */
  stop(): Promise<void>;
  /** Operations running now. */
  running(): number;
}

export interface RunnerDeps {
  store: OperationStore;
  journal: Journal;
  clock: Clock;
  log: Log;
  execute: Executor;
  /** Told after an operation has ended. */
  onFinished: (row: OperationRow, outcome: Outcome) => void;
}

/**
 * Runs operations. Those of one service go one after the other, in order of their ids; one on a whole project waits for all
 * of the project's, and holds back those behind it.
 */
export const createRunner = (deps: RunnerDeps): Runner => {
  const { store, journal, log } = deps;
  const active = new Map<string, { row: OperationRow; abort: AbortController; done: Promise<void> }>();
  let stopping = false;
  let started = false;

  const blocked = (row: OperationRow, earlier: readonly OperationRow[]): boolean =>
    earlier.some(
      (other) =>
        other.project === row.project &&
        (other.service === null || row.service === null || other.service === row.service),
    );

  const schedule = (): void => {
    if (stopping || !started) return;
    const open = store.open();
    for (const [index, row] of open.entries()) {
      if (active.has(row.id) || blocked(row, open.slice(0, index))) continue;
      const abort = new AbortController();
      const entry = { row, abort, done: Promise.resolve() };
      active.set(row.id, entry);
      entry.done = runOne(row, abort).finally(() => {
        active.delete(row.id);
        schedule();
      });
    }
  };

  const runOne = async (row: OperationRow, abort: AbortController): Promise<void> => {
    if (row.cancel_requested === 1) abort.abort(canceled());
    const outcome = await attempt(row, abort.signal);
    if (outcome === undefined) return;
    finish(row, outcome);
  };

  const attempt = async (row: OperationRow, signal: AbortSignal): Promise<Outcome | undefined> => {
    try {
      if (signal.aborted) throw signal.reason;
      if (row.attempt >= MAX_ATTEMPTS) {
        throw new BerthError('INTERNAL_ERROR', `berth was interrupted ${row.attempt} times while it carried this out`, {
          hint: 'retry; if it persists, see the server log',
          retryable: true,
        });
      }
      store.start(row.id, deps.clock.now());
      return await deps.execute(toRun(row, signal));
    } catch (error) {
      if (stopping) return undefined;
      const cause = signal.aborted && signal.reason instanceof BerthError ? signal.reason : toBerthError(error);
      if (cause.kind === 'INTERNAL_ERROR')
        log.error('an operation failed', cause.cause ?? cause, { operation: row.id });
      return { phase: 'failed', error: cause, result: null };
    }
  };

  const finish = (row: OperationRow, outcome: Outcome): void => {
    const error: ErrorBody | null = outcome.error?.toBody() ?? null;
    const status = error === null ? 'succeeded' : 'failed';
    try {
      journal.phase(row.id, outcome.phase, error?.message ?? 'done');
      store.finish(row.id, { status, phase: outcome.phase, error, result: outcome.result, at: deps.clock.now() });
      deps.onFinished(row, outcome);
      journal.done(row.id, { status, error, result: outcome.result });
    } catch (failure) {
      log.error('cannot record the end of an operation', failure, {
        operation: row.id,
        outcome: messageOf(outcome.error ?? status),
      });
    }
  };

  const toRun = (row: OperationRow, signal: AbortSignal): Run => ({
    id: row.id,
    kind: row.kind,
    project: row.project,
    service: row.service ?? '',
    actor: row.created_by,
    input: JSON.parse(row.input) as Record<string, unknown>,
    checkpoint: row.checkpoint === null ? null : (JSON.parse(row.checkpoint) as Checkpoint),
    attempt: row.attempt + 1,
    signal,
    log: (source, line) => journal.log(row.id, source, line),
    phase: (phase, message) => {
      store.setPhase(row.id, phase);
      journal.phase(row.id, phase, message);
    },
    saveCheckpoint: (checkpoint) => store.setCheckpoint(row.id, checkpoint),
  });

  return {
    wake: (id, reason) => {
      if (reason === 'canceled') active.get(id)?.abort.abort(canceled());
      schedule();
    },
    resume: () => {
      started = true;
      schedule();
    },
    stop: async () => {
      stopping = true;
      for (const { abort } of active.values()) abort.abort(STOPPING);
      await Promise.all([...active.values()].map(({ done }) => done));
      journal.flush();
    },
    running: () => active.size,
  };
};

const canceled = (): BerthError =>
  new BerthError('CONFLICT', 'the operation was canceled', { hint: 'start it again when you want it after all' });
