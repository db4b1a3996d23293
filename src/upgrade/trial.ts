import type { Clock } from '#kernel/clock';
import { isAlive } from '#kernel/lock';
import type { Log } from '#kernel/log';
import { putBack } from './executable.ts';
import { passGate } from './gate.ts';
import { decide, readRecord, readTrial, type Trial, type Verdict } from './journal.ts';

/** The time in which a new executable serves, but takes nothing that would be lost if it had to go. */
export interface OnTrial {
  /** Whether it is not yet confirmed. */
  readonly active: boolean;
  /** How it ended. */
  readonly over: Promise<Verdict | 'stopped'>;
  stop(): void;
}

export interface TrialDeps {
  dataDir: string;
  listen: string;
  proxyApiPort: number;
  clock: Clock;
  log: Log;
}

const LOOK_MS = 100;
/** The judge has its own time for the gate; past that and this, it cannot be counted on. */
const PATIENCE_MS = 30_000;

/** Waits for the verdict of the upgrader; when that is gone, judges by the same gate. */
export const startTrial = (deps: TrialDeps, trial: Trial): OnTrial => {
  const { clock, log, dataDir } = deps;
  const ending = new AbortController();
  let active = true;
  log.info('on trial: no changes are taken until this version is confirmed', { version: trial.to.version });

  const judge = async (): Promise<void> => {
    const wrong = await passGate({
      listen: deps.listen,
      proxyApiPort: deps.proxyApiPort,
      expected: trial.to,
      routes: trial.routes,
      ...trial.gate,
      gaveUp: () => (ending.signal.aborted ? 'the server was stopped' : undefined),
    });
    if (ending.signal.aborted) return;
    if (wrong === undefined) decide(dataDir, 'confirmed');
    else decide(dataDir, 'reverting', wrong);
  };

  const work = async (): Promise<Verdict | 'stopped'> => {
    const deadline = clock.monotonic() + trial.gate.timeoutMs + PATIENCE_MS;
    while (!ending.signal.aborted && readTrial(dataDir)?.state === 'trial') {
      if (!isAlive(trial.judge) || clock.monotonic() > deadline) await judge();
      else await clock.sleep(LOOK_MS, ending.signal);
    }
    if (ending.signal.aborted) return 'stopped';
    const reverting = readRecord(dataDir, 'reverting');
    if (reverting === undefined) {
      active = false;
      log.info('confirmed', { version: trial.to.version });
      return 'confirmed';
    }
    log.error('reverting the upgrade', new Error(reverting.reason ?? 'the upgrader said so'));
    await putBack(trial.executable, trial.previous, trial.from.sha256);
    return 'reverting';
  };

  return {
    get active() {
      return active;
    },
    over: work(),
    stop: () => ending.abort(),
  };
};
