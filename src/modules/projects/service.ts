import type { Database } from 'bun:sqlite';
import type { Clock } from '#kernel/clock';
import { isoTime } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { BerthError } from '#kernel/errors';
import { dryRun, type DryRun, type Page } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import type { Events } from '#modules/events';
import { accepted, type Accepted, type Operations } from '#modules/operations';
import type { CreateProjectReply, Project } from './model.ts';
import { beingDeleted, type ProjectRow, type ProjectStore } from './store.ts';
import { createTree, type TreeDeps } from './tree.ts';

/** The verbs on projects. */
export interface Projects {
  createProject(ctx: Ctx, input: { name: string }): Promise<CreateProjectReply | DryRun>;
  /** At most `page.limit + 1` in the order of their names. */
  listProjects(ctx: Ctx, page: Page): Project[];
  /** The state tree as JSON text; serialised again only after something has changed. */
  getProject(ctx: Ctx, name: string): string;
  deleteProject(ctx: Ctx, name: string): Accepted | DryRun;
  /** What `getProject` gives, for whoever has asked for the caller's rights already; undefined for a missing project. */
  peek(name: string): string | undefined;
  /** All there are. */
  names(): string[];
}

export interface ProjectsDeps extends TreeDeps {
  db: Database;
  clock: Clock;
  store: ProjectStore;
  events: Events;
  operations: Operations;
  /** Id of this installation, part of network names. */
  instance: string;
  /** The first free subnet besides those in use; undefined when the pool is exhausted. */
  allocateSubnet: (used: string[]) => { subnet: string } | undefined;
  /** Subnets that others use: the host's routes, foreign Docker networks. */
  foreignSubnets: () => Promise<string[]>;
}

export const createProjects = (deps: ProjectsDeps): Projects => {
  const { db, clock, store, events, operations } = deps;
  const tree = createTree(deps);

  const insert = (ctx: Ctx, name: string, foreign: readonly string[]): ProjectRow => {
    const allotted = deps.allocateSubnet([...foreign, ...store.subnets()]);
    if (allotted === undefined) throw poolExhausted(store.subnets().length);
    const row: ProjectRow = {
      name,
      state: 'active',
      network: `berth-${deps.instance}-${name}`,
      subnet: allotted.subnet,
      created_at: clock.now(),
      created_by: ctx.actor.principal,
    };
    // Someone else's project may have had this name before: its history is none of the new one's.
    events.forget(name);
    store.insert(row);
    events.emit({ project: name, kind: 'project.created', actor: ctx.actor.principal });
    return row;
  };

  const openDeletion = (name: string): Accepted | undefined => {
    for (const status of ['running', 'queued'] as const) {
      const filter = { projects: ['*'], project: name, kind: 'project.delete', status } as const;
      const [open] = operations.list(filter, { limit: 1, after: undefined });
      if (open !== undefined) return accepted(open);
    }
    return undefined;
  };

  return {
    createProject: async (ctx, { name }) => {
      requireProject(ctx.actor, name);
      const foreign = store.get(name) === undefined ? await deps.foreignSubnets() : [];
      return db
        .transaction((): CreateProjectReply | DryRun => {
          const existing = store.get(name);
          if (existing?.state === 'deleting') throw beingDeleted(name);
          if (existing !== undefined) return ctx.dryRun ? noChange(name) : { ...projectView(existing), created: false };
          if (!ctx.dryRun) return { ...projectView(insert(ctx, name, foreign)), created: true };
          if (deps.allocateSubnet([...foreign, ...store.subnets()]) === undefined)
            throw poolExhausted(store.subnets().length);
          return dryRun(`create project ${name}`, [{ action: 'create', resource: 'project', name }]);
        })
        .immediate();
    },
    listProjects: (ctx, page) => store.list(ctx.actor.projects, page).map(projectView),
    getProject: (ctx, name) => {
      requireProject(ctx.actor, name);
      return tree.read(name);
    },
    peek: (name) => (store.get(name) === undefined ? undefined : tree.read(name)),
    names: () => store.all().map((row) => row.name),
    deleteProject: (ctx, name) => {
      requireProject(ctx.actor, name);
      const row = store.require(name);
      const open = operations.openChanges(name);
      if (ctx.dryRun) {
        return deletionPlan(name, { services: tree.serviceNames(name), datastores: tree.datastoreNames(name), open });
      }
      const deletion = db
        .transaction(() => {
          const begun = row.state === 'deleting' ? openDeletion(name) : undefined;
          if (begun !== undefined) return begun;
          store.setState(name, 'deleting');
          return accepted(operations.enqueue(ctx, { kind: 'project.delete', project: name, service: null, input: {} }));
        })
        .immediate();
      for (const id of open) operations.cancel(ctx, id);
      return deletion;
    },
  };
};

const projectView = (row: ProjectRow): Project => ({
  name: row.name,
  state: row.state,
  created_at: isoTime(row.created_at),
  created_by: row.created_by,
});

const poolExhausted = (count: number): BerthError =>
  new BerthError('QUOTA_EXCEEDED', `no free subnet is left in the network pool; ${count} projects have one each`, {
    hint: 'delete a project, or give the server a larger network_pool or a smaller network_size',
  });

const noChange = (name: string): DryRun => dryRun(`project ${name} exists already: nothing to do`, []);

const deletionPlan = (
  name: string,
  what: { services: readonly string[]; datastores: readonly string[]; open: readonly string[] },
): DryRun => {
  const data =
    what.datastores.length === 0 ? '' : `, ${what.datastores.length} datastores with all data and all their backups`;
  return dryRun(
    `delete project ${name} with ${what.services.length} services, their releases and logs, its environment${data}`,
    [
      ...what.open.map((id) => ({ action: 'cancel', resource: 'operation', name: id })),
      ...what.services.map((service) => ({ action: 'delete', resource: 'service', name: service })),
      ...what.datastores.map((datastore) => ({ action: 'delete', resource: 'datastore', name: datastore })),
      { action: 'delete', resource: 'project', name },
    ],
  );
};
