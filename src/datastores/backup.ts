import { isoTime } from '#kernel/clock';
import { BerthError, messageOf, toBerthError } from '#kernel/errors';
import type { BackupRow, DatastoreRow } from '#modules/datastores';
import { STOPPING, type Outcome, type Run } from '#modules/operations';
import { requireSame } from './compare.ts';
import type { DatastoreDeps } from './deps.ts';
import { requireRow } from './rows.ts';
import { whileRoom } from './while-room.ts';
import { openStored, removeUnverified, storedName } from './stored.ts';

/** Makes backups: a dump counts only once it was restored elsewhere and compared. */
export interface BackupMaker {
  run(run: Run): Promise<Outcome>;
  /** As a part of the deletion of its datastore; resolves with the key. */
  final(run: Run, row: DatastoreRow): Promise<string>;
}

const EXTENSION: Record<DatastoreRow['kind'], string> = { postgres: 'dump', mongo: 'dump', redis: 'rdb' };

export const createBackupMaker = (deps: DatastoreDeps): BackupMaker => {
  const { backups, storage, engines, clock } = deps;

  const dump = async (run: Run, row: DatastoreRow, backup: BackupRow): Promise<void> => {
    run.phase('dumping', `${row.name}, ${row.kind} ${row.version}`);
    const started = clock.now();
    backups.update(backup.key, { status: 'running', started_at: started, operation_id: run.id });
    const { bytes, report } = await engines[row.kind].dump(deps.instanceOf(row), run.signal);
    const manifest = await storage.put(storedName(backup), {
      extension: EXTENSION[row.kind],
      bytes,
      about: async () => {
        const { server, rows, objects } = await report;
        return { kind: row.kind, version: row.version, server, rows, objects, created_at: isoTime(started) };
      },
      ...(row.used_bytes === null ? {} : { estimate: row.used_bytes }),
      signal: run.signal,
    });
    run.log('berth', `${manifest.rows} rows in ${manifest.bytes} bytes; sha256 ${manifest.sha256}`);
    backups.update(backup.key, {
      status: 'verifying',
      bytes: manifest.bytes,
      sha256: manifest.sha256,
      encrypted_to: manifest.encrypted,
      places: ['disk'],
      rows: manifest.rows,
      objects: manifest.objects,
      finished_at: clock.now(),
    });
  };

  const verify = async (run: Run, row: DatastoreRow, key: string): Promise<void> => {
    const backup = require(row.project, key);
    run.phase('verifying', 'restoring it into a scratch instance, and counting');
    const began = clock.monotonic();
    const found = await whileRoom(deps, run.signal, async (signal) =>
      engines[row.kind].rehearse(deps.instanceOf(row), await openStored(deps, backup, signal), signal),
    );
    requireSame(backup, found);
    const verifiedAt = clock.now();
    await storage.confirm(storedName(backup), {
      verified_at: isoTime(verifiedAt),
      rows: found.rows,
      duration_ms: Math.round(clock.monotonic() - began),
    });
    backups.update(key, { status: 'verified', verified_at: verifiedAt, error: null });
    run.log('berth', `verified: ${found.rows} rows came back`);
  };

  /** The backup is good without it; that the copy is missing is said, and tried again by the upkeep. */
  const copy = async (run: Run, key: string): Promise<void> => {
    if (storage.places.length < 2) return;
    try {
      await storage.copyToRemote(storedName(require(run.project, key)), run.signal);
      backups.update(key, { places: ['disk', 's3'] });
      run.log('berth', 'copied to the bucket');
    } catch (error) {
      if (run.signal.aborted) throw error;
      run.log('berth', `could not be copied to the bucket: ${messageOf(error)}`);
      deps.events.emit({
        project: run.project,
        kind: 'backup.copy_failed',
        actor: run.actor,
        data: { datastore: run.datastore, key, message: messageOf(error) },
      });
    }
  };

  const require = (project: string, key: string): BackupRow => {
    const row = backups.get(project, key);
    if (row === undefined)
      throw new BerthError('NOT_FOUND', `backup ${key} was deleted meanwhile`, { hint: 'make another one' });
    return row;
  };

  const make = async (run: Run, row: DatastoreRow, key: string): Promise<void> => {
    const backup = require(row.project, key);
    try {
      // What an attempt before has left is of no use: its snapshot is gone.
      await removeUnverified(deps, backup);
      await dump(run, row, backup);
      await verify(run, row, key);
    } catch (error) {
      if (run.signal.reason === STOPPING) throw error;
      const cause = run.signal.aborted ? toBerthError(run.signal.reason) : toBerthError(error);
      backups.update(key, { status: 'failed', error: cause.toBody(), places: [], finished_at: clock.now() });
      await removeUnverified(deps, backup);
      throw error;
    }
    await copy(run, key);
  };

  const resultOf = (project: string, key: string): Record<string, unknown> => {
    const { bytes, rows, sha256, places, started_at, finished_at } = require(project, key);
    return { key, bytes, rows, sha256, places, duration_ms: finished_at === null ? null : finished_at - started_at };
  };

  return {
    run: async (run) => {
      const key = String(run.input.key);
      await make(run, requireRow(deps, run), key);
      return { phase: 'ready', error: null, result: resultOf(run.project, key) };
    },
    final: async (run, row) => {
      // One key for all attempts of this deletion.
      const key = `bkp_${run.id.slice('op_'.length)}`;
      const there = backups.get(run.project, key);
      if (there?.status === 'verified') return key;
      if (there === undefined) backups.insert(finalBackup(row, { key, run, at: clock.now() }));
      await make(run, row, key);
      return key;
    },
  };
};

const finalBackup = (row: DatastoreRow, { key, run, at }: { key: string; run: Run; at: number }): BackupRow => ({
  key,
  project: row.project,
  datastore: row.name,
  datastore_id: row.id,
  kind: row.kind,
  version: row.version,
  cause: 'final',
  status: 'running',
  operation_id: run.id,
  bytes: null,
  sha256: null,
  encrypted_to: null,
  places: [],
  rows: null,
  objects: null,
  started_at: at,
  finished_at: null,
  verified_at: null,
  error: null,
  created_by: run.actor,
});
