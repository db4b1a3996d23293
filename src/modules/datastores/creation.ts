import type { Credential } from '#engines/datastores/port';
import type { Ctx } from '#kernel/ctx';
import { conflict } from '#kernel/errors';
import { dryRun, type DryRun } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import type { Accepted } from '#modules/operations';
import { beingDeleted, newRow, requireNoClash, requireRoom, type NewDatastore } from './admission.ts';
import type { BackupRow } from './backup-store.ts';
import type { DatastoresDeps, Lookup } from './lookup.ts';
import type { CreateDatastore, CreatedDatastore, Datastore } from './model.ts';
import { newPassword, newUser } from './passwords.ts';
import { creationPlan } from './plans.ts';
import type { DatastorePatch, DatastoreRow } from './store.ts';

type Wanted = CreateDatastore & {
  from?: BackupRow;
  /** Any backup of the same datastore would have done. */
  fromAny?: boolean;
};

export interface Creation {
  /** With `from`, filled from that backup before it is ready. */
  createDatastore(ctx: Ctx, project: string, body: Wanted): Promise<CreatedDatastore | DryRun>;
  /** Puts a new datastore into the state, to be made by its operation. Call it in a transaction. */
  insert(ctx: Ctx, row: NewDatastore): DatastoreRow;
}

export const createCreation = (deps: DatastoresDeps, { view, openOf, enqueue }: Lookup): Creation => {
  const { db, store, engines } = deps;

  const insert: Creation['insert'] = (ctx, wanted) => {
    requireRoom(deps, wanted.project);
    requireNoClash(deps, wanted);
    const now = deps.clock.now();
    const row: DatastoreRow = {
      ...wanted,
      id: deps.newId('ds'),
      status: 'provisioning',
      addresses: {},
      secrets: newSecrets(),
      used_bytes: null,
      read_only: false,
      kept: null,
      lost_at: null,
      rotated_at: null,
      created_at: now,
      created_by: ctx.actor.principal,
      updated_at: now,
    };
    store.insert(row);
    const data = { datastore: row.name, datastore_kind: row.kind };
    deps.events.emit({ project: row.project, kind: 'datastore.created', actor: ctx.actor.principal, data });
    return row;
  };

  /** Whether what is there was made from the backup that is asked for: then the request was sent twice. */
  const isMadeFrom = (row: DatastoreRow, from: BackupRow, any: boolean): boolean =>
    deps.operations
      .list(
        { projects: ['*'], project: row.project, datastore: row.name, kind: 'datastore.create' },
        { limit: 100, after: undefined },
      )
      .map(({ result }) => result?.from)
      .some((key) =>
        any
          ? typeof key === 'string' && deps.backups.get(row.project, key)?.datastore === from.datastore
          : key === from.key,
      );

  const existing = (ctx: Ctx, row: DatastoreRow, body: Wanted): CreatedDatastore | DryRun => {
    const { kind, from } = body;
    if (row.kind !== kind) {
      throw conflict(`datastore "${row.name}" exists, and is of kind ${row.kind}`, 'choose another name');
    }
    if (row.status === 'deleting' || openOf(row, ['datastore.delete']) !== undefined) throw beingDeleted(row.name);
    if (from !== undefined && row.status === 'ready' && !isMadeFrom(row, from, body.fromAny === true)) {
      throw conflict(
        `datastore "${row.name}" exists already, and was not made from backup ${from.key}`,
        'choose another name for the fork, or restore the backup into the datastore that it is of',
      );
    }
    if (ctx.dryRun) return dryRun(`datastore ${row.name} exists already: nothing to do`, []);
    const open = openOf(row, ['datastore.create']);
    // Its operation may have ended before it could say so: canceled while it waited, or interrupted too often.
    const isStuck = row.status === 'provisioning' && open === undefined;
    if (row.status === 'failed' || isStuck) return retry(ctx, row, body);
    return reply(view(row), { created: false, restarts: [], operation: open });
  };
  /** One that could not be made is made again under the same name and credentials, with the settings that are given now. */
  const retry = (ctx: Ctx, row: DatastoreRow, body: Wanted): CreatedDatastore =>
    db
      .transaction(() => {
        const { from, version, memory_mb, cpus, storage_limit_mb } = body;
        const settings = given({ version, memory_mb, cpus, storage_limit_mb });
        store.update(row.id, { ...settings, status: 'provisioning', updated_at: deps.clock.now() });
        const input = from === undefined ? {} : { from: from.key, again: true };
        const operation = enqueue(ctx, row, 'datastore.create', input);
        const restarts = deps.affectedServices(row.project);
        return reply(view(store.byId(row.id) ?? row), { created: false, restarts, operation });
      })
      .immediate();

  return {
    insert,
    createDatastore: async (ctx, project, body) => {
      requireProject(ctx.actor, project);
      deps.requireActive(project);
      const wanted = newRow(engines[body.kind], project, body);
      const there = store.get(project, wanted.name);
      if (there !== undefined) return existing(ctx, there, body);
      requireRoom(deps, project);
      requireNoClash(deps, wanted);
      await deps.requireDisk();
      if (ctx.dryRun) return creationPlan(wanted, deps.injection, deps.affectedServices(project));
      return db
        .transaction(() => {
          const meanwhile = store.get(project, wanted.name);
          if (meanwhile !== undefined) return existing(ctx, meanwhile, body) as CreatedDatastore;
          const row = insert(ctx, wanted);
          const operation = enqueue(
            ctx,
            row,
            'datastore.create',
            body.from === undefined ? {} : { from: body.from.key },
          );
          return reply(view(row), { created: true, restarts: deps.affectedServices(project), operation });
        })
        .immediate();
    },
  };
};

/** Without what was left out. */
const given = (settings: Settings): DatastorePatch =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));

type Settings = { [key in 'version' | 'memory_mb' | 'cpus' | 'storage_limit_mb']: CreateDatastore[key] | undefined };

const newSecrets = (): DatastoreRow['secrets'] => ({
  adminPassword: newPassword(),
  readerPassword: newPassword(),
  writerPassword: newPassword(),
  credentials: [newCredential()],
  tls: null,
});

/** What apps are given from the next rotation on. */
export const newCredential = (): Credential => ({ user: newUser(), password: newPassword() });

const reply = (
  view: Datastore,
  facts: { created: boolean; restarts: string[]; operation: Accepted | undefined },
): CreatedDatastore => ({
  ...view,
  created: facts.created,
  restarted_services: facts.restarts,
  operation_id: facts.operation?.operation_id ?? null,
  stream_url: facts.operation?.stream_url ?? null,
});
