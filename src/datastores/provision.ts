import { BerthError } from '#kernel/errors';
import type { DatastoreEngine } from '#engines/datastores/port';
import { hostOf, type DatastoreRow } from '#modules/datastores';
import { STOPPING, type Outcome, type Run } from '#modules/operations';
import type { DatastoreDeps } from './deps.ts';
import { requireRow } from './rows.ts';
import { ctxOfRun } from './restarts.ts';
import { useStored } from './stored.ts';
import { whileRoom } from './while-room.ts';
import { requireSame } from './compare.ts';
import { createRemake } from './remake.ts';

/** Makes datastores, and makes their containers anew. */
export interface Provision {
  create(run: Run): Promise<Outcome>;
  update(run: Run): Promise<Outcome>;
  restart(run: Run): Promise<Outcome>;
}

export const createProvision = (deps: DatastoreDeps): Provision => {
  const { store, containers, engines } = deps;
  const giveUp = createGiveUp(deps);
  const remake = createRemake(deps);

  /** Addresses and certificate, once: from then on they belong to the datastore. */
  const settlePlace = async (row: DatastoreRow, engine: DatastoreEngine): Promise<DatastoreRow> => {
    const project = await deps.places.networks.ensure(row.project);
    const missing = engine.roles().filter((role) => row.addresses[role] === undefined);
    const reserved = missing.map((role) => [role, deps.places.addresses.reserve(project)] as const);
    try {
      const addresses = { ...row.addresses, ...Object.fromEntries(reserved) };
      const address = addresses.main ?? '';
      const tls = row.secrets.tls ?? (await deps.authority.issue({ host: hostOf(row.name), address }));
      store.update(row.id, { addresses, secrets: { ...row.secrets, tls } });
      return { ...row, addresses, secrets: { ...row.secrets, tls } };
    } finally {
      // From here on the row holds them.
      for (const [, address] of reserved) deps.places.addresses.release(row.project, address);
    }
  };

  const fill = async (run: Run, row: DatastoreRow, engine: DatastoreEngine): Promise<void> => {
    const key = run.input.from;
    if (typeof key !== 'string') return;
    const backup = deps.backups.get(run.project, key);
    if (backup === undefined)
      throw new BerthError('NOT_FOUND', `backup ${key} was deleted meanwhile`, { hint: 'choose another backup' });
    run.phase('restoring', `filling ${row.name} from backup ${key}: ${backup.rows ?? 0} rows`);
    const report = await useStored(deps, { row: backup, run }, (bytes) =>
      whileRoom(deps, run.signal, (signal) => engine.load(deps.instanceOf(row), bytes, signal)),
    );
    requireSame(backup, report);
  };

  const announce = (run: Run, row: DatastoreRow): Outcome => {
    deps.env.injectionChanged(row.project);
    const restarts = deps.db
      .transaction(() => {
        store.update(row.id, { status: 'ready', updated_at: deps.clock.now() });
        return deps.env.restartAffected(ctxOfRun(run), row.project);
      })
      .immediate();
    deps.env.injectionChanged(row.project);
    return {
      phase: 'ready',
      error: null,
      result: {
        datastore: row.name,
        datastore_kind: row.kind,
        ...(run.input.from === undefined ? {} : { from: run.input.from }),
        restarted_services: restarts.map((operation) => operation.service),
        operations: restarts.map((operation) => operation.operation_id),
      },
    };
  };

  return {
    create: async (run) => {
      const found = requireRow(deps, run);
      const engine = engines[found.kind];
      if (found.status === 'ready') return announce(run, found);
      run.phase('provisioning', `${found.kind} ${found.version} with ${found.memory_mb} MiB`);
      let row = found;
      try {
        // One that was cut short may hold half of its files, or of a backup; nobody has had its variables yet.
        if (run.attempt > 1 || run.input.again === true) await containers.lower(found, { data: true });
        row = await settlePlace(found, engine);
        await containers.raise(deps.instanceOf(row), engine, { signal: run.signal, anew: false });
        run.log('berth', `${row.name} answers at ${hostOf(row.name)}:${engine.port}`);
        await fill(run, row, engine);
      } catch (error) {
        if (run.signal.reason === STOPPING) throw error;
        await giveUp(run, row);
        throw error;
      }
      return announce(run, row);
    },
    update: async (run) => {
      const before = requireRow(deps, run);
      const after = { ...before, ...(run.input as Partial<DatastoreRow>), updated_at: deps.clock.now() };
      if (before.memory_mb !== after.memory_mb || before.cpus !== after.cpus) {
        run.phase('provisioning', `restarting ${before.name} with ${after.memory_mb} MiB and ${after.cpus} CPU`);
        await remake(run, { before, after }, { pull: false });
      }
      store.update(before.id, {
        memory_mb: after.memory_mb,
        cpus: after.cpus,
        storage_limit_mb: after.storage_limit_mb,
        updated_at: after.updated_at,
      });
      return { phase: 'ready', error: null, result: { ...run.input } };
    },
    restart: async (run) => {
      const row = requireRow(deps, run);
      run.phase('provisioning', `restarting ${row.name} on the newest image of ${row.kind} ${row.version}`);
      await remake(run, { before: row, after: row }, { pull: true });
      return { phase: 'ready', error: null, result: {} };
    },
  };
};

/** Takes back what was made of a datastore that cannot be made. */
const createGiveUp =
  ({ store, containers, clock, log }: DatastoreDeps) =>
  async (run: Run, row: DatastoreRow): Promise<void> => {
    run.log('berth', 'taking away what was made of it');
    const isFork = run.input.from !== undefined;
    try {
      await containers.lower(row, { data: true });
    } catch (error) {
      // What is left of a fork may be half of a backup: the upkeep takes it away. Anything else goes on from what is there.
      log.error('could not take away what was made of a datastore', error, { datastore: row.id });
      store.update(row.id, { status: isFork ? 'deleting' : 'failed', updated_at: clock.now() });
      return;
    }
    // A fork is asked for again with its backup; anything else is made by the same request once more.
    if (isFork) store.remove(row.id);
    else store.update(row.id, { status: 'failed', updated_at: clock.now() });
  };
