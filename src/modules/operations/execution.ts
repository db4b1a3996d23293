import type { Clock } from '#kernel/clock';
import { BerthError, toBerthError, type ErrorBody } from '#kernel/errors';
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
  /** Empty for operations on services and on whole projects. */
  datastore: string;
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
  phase: 'healthy' | 'rolled_back' | 'failed' | 'ready';
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
/** Between attempts to record an end that could not be written, because the disk is full, say. */
const RECORD_PAUSE_MS = 1000;

export interface ExecutionDeps extends RunnerDeps {
  /** Aborts when berth itself stops. */
  stopping: AbortSignal;
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

/** Carries one operation out, and records how it ended. */
export interface Execution {
  /** Leaves the operation open when `signal` aborts with STOPPING. */
  run(row: OperationRow, signal: AbortSignal): Promise<void>;
  /** Ends an operation that never ran. */
  end(row: OperationRow, error: BerthError): void;
}

export const createExecution = (deps: ExecutionDeps): Execution => {
  const { store, journal, clock, log } = deps;

  /** The cause of a fault of berth's own is for the server log, not for the caller. */
  const logFault = (row: OperationRow, error: BerthError | null): void => {
    if (error?.kind === 'INTERNAL_ERROR') log.error('an operation failed', error.cause ?? error, { operation: row.id });
  };

  const attempt = async (row: OperationRow, signal: AbortSignal): Promise<Outcome | undefined> => {
    try {
      if (signal.aborted) throw signal.reason;
      if (row.attempt >= MAX_ATTEMPTS) throw interrupted(row.attempt);
      store.start(row.id, clock.now());
      const outcome = await deps.execute(toRun(deps, row, signal));
      logFault(row, outcome.error);
      return outcome;
    } catch (error) {
      if (signal.reason === STOPPING) return undefined;
      const cause = signal.aborted && signal.reason instanceof BerthError ? signal.reason : toBerthError(error);
      logFault(row, cause);
      return { phase: 'failed', error: cause, result: null };
    }
  };

  const endSteps = (row: OperationRow, outcome: Outcome): (() => void)[] => {
    const error: ErrorBody | null = outcome.error?.toBody() ?? null;
    const status = error === null ? 'succeeded' : 'failed';
    const { phase, result } = outcome;
    return [
      () => journal.phase(row.id, phase, error?.message ?? 'done'),
      () => store.finish(row.id, { status, phase, error, result, at: clock.now() }),
      () => deps.onFinished(row, outcome),
      () => journal.done(row.id, { status, error, result }),
    ];
  };

  /** Each step until it is written, and none twice. The signal may have aborted long ago, so it cannot end the pause. */
  const recordUntilWritten = async (row: OperationRow, outcome: Outcome, signal: AbortSignal): Promise<void> => {
    const steps = endSteps(row, outcome);
    while (steps.length > 0) {
      try {
        steps[0]?.();
        steps.shift();
      } catch (error) {
        log.error('cannot record the end of an operation; trying again', error, { operation: row.id });
        await clock.sleep(RECORD_PAUSE_MS, deps.stopping);
        if (deps.stopping.aborted || signal.reason === STOPPING) return;
      }
    }
  };

  return {
    run: async (row, signal) => {
      const outcome = await attempt(row, signal);
      if (outcome !== undefined) await recordUntilWritten(row, outcome, signal);
    },
    end: (row, error) => {
      for (const step of endSteps(row, { phase: 'failed', error, result: null })) step();
    },
  };
};

const interrupted = (attempts: number): BerthError =>
  new BerthError('INTERNAL_ERROR', `berth was interrupted ${attempts} times while it carried this out`, {
    hint: 'retry; if it persists, see the server log',
    retryable: true,
  });

const toRun = ({ store, journal }: ExecutionDeps, row: OperationRow, signal: AbortSignal): Run => ({
  id: row.id,
  kind: row.kind,
  project: row.project,
  service: row.service ?? '',
  datastore: row.datastore ?? '',
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
