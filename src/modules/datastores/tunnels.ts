import type { Duplex } from 'node:stream';
import type { DatastoreInstance } from '#engines/datastores/port';
import type { Clock } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { BerthError } from '#kernel/errors';
import { requireProject } from '#kernel/scope';
import type { Events } from '#modules/events';
import type { DatastorePath, Engines } from './service.ts';
import type { DatastoreRow } from './store.ts';

/** Connections into datastores, for tools that speak the database's own protocol. */
export interface Tunnels {
  /** Checks that one may be opened now; what it returns serves it. */
  open(ctx: Ctx, path: DatastorePath): (stream: Duplex, signal: AbortSignal) => Promise<void>;
}

export interface TunnelsDeps {
  clock: Clock;
  engines: Engines;
  events: Pick<Events, 'emit'>;
  instanceOf: (row: DatastoreRow) => DatastoreInstance;
  requireReady: (path: DatastorePath) => DatastoreRow;
  requireExists: (project: string) => void;
}

/** Apps need most of the connections that a database has. */
const MAX_PER_DATASTORE = 20;

export const createTunnels = (deps: TunnelsDeps): Tunnels => {
  const open = new Map<string, number>();
  const count = (id: string, change: number): void => {
    open.set(id, (open.get(id) ?? 0) + change);
    if (open.get(id) === 0) open.delete(id);
  };

  return {
    open: (ctx, path) => {
      requireProject(ctx.actor, path.project);
      deps.requireExists(path.project);
      const row = deps.requireReady(path);
      if ((open.get(row.id) ?? 0) >= MAX_PER_DATASTORE) throw tooMany(row.name);
      return async (stream, signal) => {
        const began = deps.clock.monotonic();
        const emit = (kind: 'tunnel.opened' | 'tunnel.closed', data: Record<string, unknown>): void =>
          deps.events.emit({
            project: row.project,
            kind,
            actor: ctx.actor.principal,
            data: { datastore: row.name, ...data },
          });
        count(row.id, 1);
        emit('tunnel.opened', {});
        try {
          await deps.engines[row.kind].relay(deps.instanceOf(row), stream, signal);
        } finally {
          count(row.id, -1);
          emit('tunnel.closed', { duration_ms: Math.round(deps.clock.monotonic() - began) });
        }
      };
    },
  };
};

const tooMany = (name: string): BerthError =>
  new BerthError('QUOTA_EXCEEDED', `datastore "${name}" has ${MAX_PER_DATASTORE} connections through tunnels`, {
    hint: 'close some of them (a GUI tool may hold several), then try again',
    retryable: true,
    retryAfterSeconds: 5,
  });
