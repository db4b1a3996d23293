import type { DatastoreEngine } from '#engines/datastores/port';
import type { Config } from '#kernel/config';
import { BerthError, conflict, invalidInput, notFound } from '#kernel/errors';
import type { Injection } from './injection.ts';
import type { CreateDatastore } from './model.ts';
import type { DatastoreRow, DatastoreStore } from './store.ts';

/** A datastore as it was asked for, completed. */
export type NewDatastore = Pick<
  DatastoreRow,
  'project' | 'name' | 'kind' | 'version' | 'memory_mb' | 'cpus' | 'storage_limit_mb'
>;

export interface AdmissionDeps {
  config: Config;
  store: DatastoreStore;
  injection: Injection;
  /** Names of the variables that users have set. */
  envNames: (project: string) => string[];
}

const DEFAULT_CPUS = 1;

/** INVALID_INPUT for versions and limits that the engine does not offer. */
export const newRow = (engine: DatastoreEngine, project: string, body: CreateDatastore): NewDatastore => {
  const [newest = ''] = engine.versions;
  const version = body.version ?? newest;
  if (!engine.versions.includes(version)) {
    throw invalidInput(
      `body.version: ${body.kind} ${version} is not offered`,
      `use one of ${engine.versions.join(', ')}; without a version you get ${newest}`,
    );
  }
  requireMemory(engine, body.memory_mb);
  return {
    project,
    name: body.name ?? body.kind,
    kind: body.kind,
    version,
    memory_mb: body.memory_mb ?? engine.defaultMemoryMb,
    cpus: body.cpus ?? DEFAULT_CPUS,
    storage_limit_mb: body.storage_limit_mb ?? null,
  };
};

export const requireMemory = (engine: DatastoreEngine, memoryMb: number | undefined): void => {
  if (memoryMb === undefined || memoryMb >= engine.minMemoryMb) return;
  throw invalidInput(
    `body.memory_mb: ${engine.kind} needs at least ${engine.minMemoryMb} MiB, not ${memoryMb}`,
    `omit it for ${engine.defaultMemoryMb} MiB`,
  );
};

/** QUOTA_EXCEEDED when the project may have no further datastore. */
export const requireRoom = ({ config, store }: Pick<AdmissionDeps, 'config' | 'store'>, project: string): void => {
  const count = store.list(project).length;
  if (count < config.quotaDatastores) return;
  throw new BerthError(
    'QUOTA_EXCEEDED',
    `project "${project}" has ${count} of at most ${config.quotaDatastores} datastores`,
    { hint: 'delete a datastore, or raise quota_datastores in the server configuration' },
  );
};

/** Nothing that a user has set is overwritten, and no two datastores share a variable. */
export const requireNoClash = ({ envNames, injection, store }: AdmissionDeps, wanted: NewDatastore): void => {
  const names = injection.namesOf(wanted);
  const set = envNames(wanted.project).filter((name) => names.includes(name));
  if (set.length > 0) {
    throw conflict(
      `the project has set ${set.join(', ')} itself, which datastore "${wanted.name}" would give`,
      `unset ${set.length === 1 ? 'it' : 'them'} first, or choose another name for the datastore`,
    );
  }
  for (const other of store.list(wanted.project)) {
    const both = injection.namesOf(other).filter((name) => names.includes(name));
    if (both.length > 0) {
      throw conflict(`datastore "${other.name}" gives ${both.join(', ')} already`, 'choose another name');
    }
  }
};

export const datastoreNotFound = (project: string, name: string): BerthError =>
  notFound(
    `no datastore named "${name}" in project "${project}"`,
    `list them with GET /v1/projects/${project}/datastores`,
  );

export const notReady = (row: DatastoreRow): BerthError =>
  row.status === 'failed'
    ? conflict(`datastore "${row.name}" could not be made`, 'create it again: that retries; or delete it')
    : conflict(`datastore "${row.name}" is ${row.status}`, 'wait until its status is "ready"', true);

export const beingDeleted = (name: string): BerthError =>
  conflict(`datastore "${name}" is being deleted`, 'wait until it is gone', true);
