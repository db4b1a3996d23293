import { conflict } from '#kernel/errors';
import { newCredential, type DatastoreRow } from '#modules/datastores';
import type { Outcome, Run } from '#modules/operations';
import type { DatastoreDeps } from './deps.ts';
import { ctxOfRun, untilReplaced, untilRestarted } from './restarts.ts';
import { requireRow } from './rows.ts';

/**
 * Rotation without downtime: a second credential is made valid, services restart with it, and the first one is voided once
 * no replica knows it any more. When a service does not come up, both stay valid and the operation says so; the next rotation
 * takes it from there.
 */
export const createRotate =
  (deps: DatastoreDeps) =>
  async (run: Run): Promise<Outcome> => {
    const row = requireRow(deps, run);
    const engine = deps.engines[row.kind];
    const settle = async (credentials: DatastoreRow['secrets']['credentials']): Promise<void> => {
      const next = { ...row, secrets: { ...row.secrets, credentials } };
      await engine.settle(deps.instanceOf(next), run.signal);
      deps.env.injectionChanged(row.project);
      deps.store.update(row.id, { secrets: next.secrets, updated_at: deps.clock.now() });
      deps.env.injectionChanged(row.project);
    };

    run.phase('rotating', `making a second credential of ${row.name} valid`);
    const pending = row.secrets.credentials.length > 1;
    const both = pending ? row.secrets.credentials : [...row.secrets.credentials, newCredential()];
    await settle(both);

    const since = deps.clock.now();
    const restarts = deps.db.transaction(() => deps.env.restartAffected(ctxOfRun(run), row.project)).immediate();
    const failed = await untilRestarted(deps, run, restarts);
    if (failed.length > 0) {
      throw conflict(
        `${failed.join(', ')} could not be restarted with the new credential; the old one stays valid`,
        'see why with GET /v1/operations?kind=env.restart, mend it, then rotate again',
        true,
      );
    }
    await untilReplaced(deps, run, since);
    run.log('berth', 'no replica knows the old credential: voiding it');
    await settle(both.slice(-1));
    deps.store.update(row.id, { rotated_at: deps.clock.now() });
    return { phase: 'ready', error: null, result: { restarted_services: restarts.map(({ service }) => service) } };
  };
