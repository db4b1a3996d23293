import { conflict, type BerthError } from '#kernel/errors';
import { SYSTEM_ACTOR, type Ctx } from '#kernel/ctx';
import type { Operation, Run } from '#modules/operations';
import type { DatastoreDeps } from './deps.ts';

/** The context of what an operation causes, under the name of who asked for it. */
export const ctxOfRun = (run: Pick<Run, 'id' | 'actor'>): Ctx => ({
  actor: { ...SYSTEM_ACTOR, principal: run.actor },
  requestId: run.id,
  dryRun: false,
});

const POLL_MS = 200;

/** Waits until operations have ended; resolves with the services whose restart failed. */
export const untilRestarted = async (
  deps: Pick<DatastoreDeps, 'operations' | 'clock'>,
  run: Run,
  restarts: readonly Pick<Operation, 'operation_id' | 'service'>[],
): Promise<string[]> => {
  const failed: string[] = [];
  for (const { operation_id: id, service } of restarts) {
    for (;;) {
      if (run.signal.aborted) throw run.signal.reason;
      const status = deps.operations.get(id)?.status;
      if (status !== 'queued' && status !== 'running') {
        run.log('berth', `service ${service}: ${status === 'succeeded' ? 'restarted' : 'did not restart'} (${id})`);
        if (status === 'failed') failed.push(service ?? '');
        break;
      }
      await deps.clock.sleep(POLL_MS, run.signal);
    }
  }
  return failed;
};

/** Replicas that began before `since` (milliseconds since the epoch) may still use what was valid then. */
export const untilReplaced = async (
  deps: Pick<DatastoreDeps, 'services' | 'clock'>,
  run: Run,
  since: number,
): Promise<void> => {
  const deadline = deps.clock.monotonic() + DRAIN_LIMIT_MS;
  const old = () => deps.services.replicas.ofProject(run.project).filter((row) => row.created_at < since);
  while (old().length > 0) {
    if (run.signal.aborted) throw run.signal.reason;
    if (deps.clock.monotonic() > deadline) throw stillThere(old().map((row) => row.service));
    await deps.clock.sleep(POLL_MS, run.signal);
  }
};

/** The longest drain that a service can have, and the stop after it. */
const DRAIN_LIMIT_MS = 330_000;

const stillThere = (services: readonly string[]): BerthError =>
  conflict(
    `replicas of ${[...new Set(services)].join(', ')} from before are still there`,
    'the old credential stays valid; restart these services, then rotate again',
    true,
  );
