import { dryRun, type Change, type DryRun } from '#kernel/schema';
import type { Injection } from './injection.ts';
import type { UpdateDatastore } from './model.ts';
import type { NewDatastore } from './admission.ts';
import type { DatastoreRow } from './store.ts';

const restartsOf = (services: readonly string[]): Change[] =>
  services.map((name) => ({ action: 'restart', resource: 'service', name }));

export const creationPlan = (wanted: NewDatastore, injection: Injection, services: readonly string[]): DryRun => {
  return dryRun(
    `create ${wanted.kind} ${wanted.version} datastore ${wanted.name} with ${wanted.memory_mb} MiB, restart ${services.length} ${services.length === 1 ? 'service' : 'services'}`,
    [
      { action: 'create', resource: 'datastore', name: wanted.name, kind: wanted.kind, version: wanted.version },
      ...injection.namesOf(wanted).map((name) => ({ action: 'create', resource: 'env', name })),
      ...restartsOf(services),
    ],
  );
};

export const updatePlan = (row: DatastoreRow, changes: readonly [string, unknown][]): DryRun => {
  if (changes.length === 0) return dryRun(`datastore ${row.name} has these settings already: nothing to do`, []);
  const from = Object.fromEntries(changes.map(([key]) => [key, row[key as keyof UpdateDatastore]]));
  const restarts = changes.some(([key]) => key !== 'storage_limit_mb');
  return dryRun(`change ${changes.map(([key]) => key).join(', ')} of datastore ${row.name}`, [
    { action: 'update', resource: 'datastore', name: row.name, from, to: Object.fromEntries(changes) },
    ...(restarts ? [{ action: 'restart', resource: 'datastore', name: row.name }] : []),
  ]);
};

export const restartPlan = (row: DatastoreRow): DryRun =>
  dryRun(`restart datastore ${row.name} on the newest image of ${row.kind} ${row.version}; apps reconnect`, [
    { action: 'restart', resource: 'datastore', name: row.name },
  ]);

export const rotationPlan = (row: DatastoreRow, services: readonly string[]): DryRun =>
  dryRun(`give the services another credential for datastore ${row.name}, then void the old one`, [
    { action: 'update', resource: 'datastore', name: row.name },
    ...restartsOf(services),
  ]);

export const deletionPlan = (
  injection: Injection,
  row: DatastoreRow,
  what: { finalBackup: boolean; restarts: readonly string[]; open: readonly string[] },
): DryRun => {
  const backup = what.finalBackup ? 'after a final backup' : 'without a final backup (final_backup=true makes one)';
  return dryRun(`delete datastore ${row.name} with all its data, ${backup}`, [
    ...what.open.map((id) => ({ action: 'cancel', resource: 'operation', name: id })),
    ...(what.finalBackup ? [{ action: 'create', resource: 'backup', name: row.name }] : []),
    { action: 'delete', resource: 'datastore', name: row.name, used_bytes: row.used_bytes },
    ...injection.namesOf(row).map((name) => ({ action: 'delete', resource: 'env', name })),
    ...restartsOf(what.restarts),
  ]);
};
