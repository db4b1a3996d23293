import type { Database } from 'bun:sqlite';
import type { Clock } from '#kernel/clock';
import { isoTime } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { createMasker, type Masker } from '#kernel/mask';
import { dryRun, type DryRun, type Page } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import type { Events } from '#modules/events';
import { accepted, type Operation, type Operations } from '#modules/operations';
import type { ServiceRow } from '#modules/services';
import type { EnvEntry, SetEnv } from './model.ts';
import { worthMasking } from './secrets.ts';
import { createEnvStore, type EnvStore } from './store.ts';
import { parseEnvBody, requireFits, type EnvChanges } from './validate.ts';
import type { Vault } from './vault.ts';

/** The verbs on a project's environment. */
export interface Env {
  setEnv(ctx: Ctx, project: string, body: unknown): SetEnv | DryRun;
  /** At most `page.limit + 1` in the order of their names. */
  listEnv(ctx: Ctx, project: string, page: Page): EnvEntry[];
  names(project: string): string[];
  /** All that services are given, those of datastores included. */
  keys(project: string): string[];
  /** The values in clear, for containers and builds. */
  resolve(project: string): Record<string, string>;
  /** The values to keep out of logs, with those replaced since berth started: a draining replica still knows them. */
  secretValues(project: string): string[];
  /** Masks `secretValues`; compiled once per change. */
  masker(project: string): Masker;
  /** What services are given for datastores, besides. */
  injected(project: string): { name: string; datastore: string }[];
  /** Call when the injection has changed: logs mask the new secrets, and the old ones still. */
  injectionChanged(project: string): void;
  /** Services that must restart to see a change of the environment: those that run. */
  affected(project: string): ServiceRow[];
  /** Queues the rolling restart of all of them. Call it in the transaction of the change. */
  restartAffected(ctx: Ctx, project: string): Operation[];
}

export interface EnvDeps {
  db: Database;
  clock: Clock;
  vault: Vault;
  events: Events;
  operations: Operations;
  /** Services of the project, to find those that have to restart. */
  services: { list(project: string): ServiceRow[] };
  /** NOT_FOUND for a missing project, CONFLICT for one that is being deleted. */
  requireActive: (project: string) => void;
  requireExists: (project: string) => void;
  /** What services are given besides, for the datastores of their project. */
  injection: EnvInjection;
}

export interface EnvInjection {
  /** Values by name; what a user has set under the same name comes before them. */
  variables(project: string): Record<string, string>;
  names(project: string): { name: string; datastore: string }[];
  /** What to keep out of logs. */
  secrets(project: string): string[];
}

interface Difference {
  set: string[];
  unset: string[];
}

/** Replaced values that are still masked, per project. */
const MAX_RETIRED = 200;

export const createEnv = (deps: EnvDeps): Env => {
  const { db, clock, events, operations } = deps;
  const store = createEnvStore(db);
  const secrets = createSecretCache(deps, store);

  const apply = (ctx: Ctx, project: string, changes: EnvChanges, difference: Difference): void => {
    const stamp = { project, updated_at: clock.now(), updated_by: ctx.actor.principal };
    for (const name of difference.set) {
      store.set({ ...stamp, name, sealed: deps.vault.seal(label(project, name), changes.get(name) ?? '') });
    }
    for (const name of difference.unset) store.unset(project, name);
    events.emit({ project, kind: 'env.changed', actor: ctx.actor.principal, data: { ...difference } });
  };

  /** Nothing runs in a service without a live release or with no replica: its next start sees the new values anyway. */
  const affectedBy = (project: string): ServiceRow[] =>
    deps.services.list(project).filter((row) => row.live_release !== null && row.replicas > 0);

  return {
    setEnv: (ctx, project, body) => {
      requireProject(ctx.actor, project);
      deps.requireActive(project);
      const changes = parseEnvBody(body);
      const before = read(deps.vault, store, project);
      const after = merge(before, changes);
      requireFits(after);
      const difference = differenceOf(before, changes);
      const changed = difference.set.length + difference.unset.length > 0;
      const affected = changed ? affectedBy(project) : [];
      if (ctx.dryRun) return plan(difference, affected);
      const restarts = !changed
        ? []
        : db
            .transaction(() => {
              apply(ctx, project, changes, difference);
              return affected.map((row) => restart(operations, ctx, row));
            })
            .immediate();
      if (changed) secrets.retire(project, before.values());
      return reply(after, difference, restarts);
    },
    listEnv: (ctx, project, page) => {
      requireProject(ctx.actor, project);
      deps.requireExists(project);
      return store
        .page(project, page)
        .map((row) => ({ name: row.name, updated_at: isoTime(row.updated_at), updated_by: row.updated_by }));
    },
    names: (project) => store.names(project),
    keys: (project) => {
      const injected = deps.injection.names(project).map(({ name }) => name);
      return [...new Set([...store.names(project), ...injected])].sort();
    },
    resolve: (project) => ({
      ...deps.injection.variables(project),
      ...Object.fromEntries(read(deps.vault, store, project)),
    }),
    secretValues: (project) => secrets.of(project).values,
    masker: (project) => secrets.of(project).masker,
    injected: (project) => deps.injection.names(project),
    injectionChanged: (project) => secrets.retire(project, secrets.of(project).values),
    affected: affectedBy,
    restartAffected: (ctx, project) => affectedBy(project).map((row) => restart(operations, ctx, row)),
  };
};

const label = (project: string, name: string): string => `${project}\0${name}`;

const read = (vault: Vault, store: EnvStore, project: string): Map<string, string> =>
  new Map(store.list(project).map((row) => [row.name, vault.open(label(project, row.name), row.sealed)]));

const merge = (before: ReadonlyMap<string, string>, changes: EnvChanges): Map<string, string> => {
  const after = new Map(before);
  for (const [name, value] of changes) {
    if (value === null) after.delete(name);
    else after.set(name, value);
  }
  return after;
};

const differenceOf = (before: ReadonlyMap<string, string>, changes: EnvChanges): Difference => {
  const names = [...changes.keys()].sort();
  return {
    set: names.filter((name) => changes.get(name) !== null && changes.get(name) !== before.get(name)),
    unset: names.filter((name) => changes.get(name) === null && before.has(name)),
  };
};

/** A restart that waits already will see the new values: no second one is queued behind it. */
const restart = (operations: Operations, ctx: Ctx, row: ServiceRow): Operation => {
  const [waiting] = operations.list(
    { projects: ['*'], project: row.project, service: row.name, status: 'queued', kind: 'env.restart' },
    { limit: 1, after: undefined },
  );
  return (
    waiting ?? operations.enqueue(ctx, { kind: 'env.restart', project: row.project, service: row.name, input: {} })
  );
};

const reply = (after: ReadonlyMap<string, string>, difference: Difference, restarts: readonly Operation[]): SetEnv => ({
  names: [...after.keys()].sort(),
  ...difference,
  restarted_services: restarts.map((operation) => operation.service ?? ''),
  operations: restarts.map((operation) => ({ service: operation.service ?? '', ...accepted(operation) })),
});

const plan = (difference: Difference, affected: readonly ServiceRow[]): DryRun =>
  dryRun(`set ${difference.set.length}, unset ${difference.unset.length}, restart ${affected.length} services`, [
    ...difference.set.map((name) => ({ action: 'update', resource: 'env', name })),
    ...difference.unset.map((name) => ({ action: 'delete', resource: 'env', name })),
    ...affected.map((row) => ({ action: 'restart', resource: 'service', name: row.name })),
  ]);

/** Compiled once per change, because every log line asks for it. */
const createSecretCache = (deps: EnvDeps, store: EnvStore) => {
  const cache = new Map<string, { values: string[]; masker: Masker }>();
  const retired = new Map<string, Set<string>>();

  const compile = (project: string) => {
    const own = [...read(deps.vault, store, project).values()];
    const candidates = [...own, ...(retired.get(project) ?? []), ...deps.injection.secrets(project)];
    const values = [...new Set(candidates.filter(worthMasking))];
    const compiled = { values, masker: createMasker(values) };
    cache.set(project, compiled);
    return compiled;
  };

  return {
    of: (project: string) => cache.get(project) ?? compile(project),
    retire: (project: string, before: Iterable<string>): void => {
      const kept = [...(retired.get(project) ?? []), ...before].filter(worthMasking);
      retired.set(project, new Set(kept.slice(-MAX_RETIRED)));
      cache.delete(project);
    },
  };
};
