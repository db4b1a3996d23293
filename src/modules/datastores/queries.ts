import type { Cell, DatastoreInstance } from '#engines/datastores/port';
import type { Clock } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { BerthError, toBerthError } from '#kernel/errors';
import type { Masker } from '#kernel/mask';
import { encodeCursor } from '#http/list';
import { dryRun, type DryRun, type Page } from '#kernel/schema';
import { holds, requireProject } from '#kernel/scope';
import type { Events } from '#modules/events';
import type { QueryInput, Tables } from './model.ts';
import type { DatastorePath, Engines } from './service.ts';
import type { DatastoreRow } from './store.ts';

export interface QueryReply {
  columns: { name: string; type: string }[];
  rows: Cell[][];
  row_count: number;
  truncated: boolean;
  duration_ms: number;
}

/** Looking into datastores. */
export interface Queries {
  /** Read-only unless the token holds `manage_datastores` too. Every one is an event, failed ones included. */
  query(ctx: Ctx, path: DatastorePath, input: QueryInput, signal: AbortSignal): Promise<QueryReply | DryRun>;
  tables(ctx: Ctx, path: DatastorePath, page: Page, match: string | undefined): Promise<Tables>;
}

export interface QueriesDeps {
  clock: Clock;
  events: Pick<Events, 'emit'>;
  engines: Engines;
  instanceOf: (row: DatastoreRow) => DatastoreInstance;
  requireReady: (path: DatastorePath) => DatastoreRow;
  requireExists: (project: string) => void;
  masker: (project: string) => Masker;
}

export const MAX_ROWS = 500;
const MAX_BYTES = 8 * 1024 * 1024;
const TIMEOUT_SECONDS = 30;
/** Characters of a statement that the audit keeps. */
const AUDITED_LENGTH = 4000;

export const createQueries = (deps: QueriesDeps): Queries => {
  const { clock, engines } = deps;

  const require = (ctx: Ctx, path: DatastorePath): DatastoreRow => {
    requireProject(ctx.actor, path.project);
    deps.requireExists(path.project);
    return deps.requireReady(path);
  };

  const audit = (ctx: Ctx, row: DatastoreRow, input: QueryInput, outcome: Record<string, unknown>): void =>
    deps.events.emit({
      project: row.project,
      kind: 'query.executed',
      actor: ctx.actor.principal,
      data: {
        datastore: row.name,
        // Masked before it is cut: half a secret would not be recognised.
        query: deps.masker(row.project).mask(input.query).slice(0, AUDITED_LENGTH),
        ...(input.query.length > AUDITED_LENGTH ? { query_length: input.query.length } : {}),
        ...outcome,
      },
    });

  return {
    query: async (ctx, path, input, signal) => {
      const row = require(ctx, path);
      const write = holds(ctx.actor, 'manage_datastores') && input.read_only !== true;
      if (ctx.dryRun) {
        return dryRun(`run one statement in datastore ${row.name}, ${write ? 'which may write' : 'which only reads'}`, [
          { action: 'query', resource: 'datastore', name: row.name, write },
        ]);
      }
      const began = clock.monotonic();
      const elapsed = (): number => Math.round(clock.monotonic() - began);
      try {
        const result = await engines[row.kind].query(deps.instanceOf(row), {
          query: input.query,
          params: (input.params ?? []) as Cell[],
          write,
          timeoutMs: (input.timeout_seconds ?? TIMEOUT_SECONDS) * 1000,
          maxRows: Math.min(input.limit ?? MAX_ROWS, MAX_ROWS),
          maxBytes: MAX_BYTES,
          signal,
        });
        const { row_count, truncated } = result;
        audit(ctx, row, input, { outcome: 'succeeded', write, row_count, truncated, duration_ms: elapsed() });
        return result;
      } catch (thrown) {
        const error = toBerthError(thrown);
        audit(ctx, row, input, { outcome: 'failed', write, code: error.kind, duration_ms: elapsed() });
        throw write ? error : withWriteHint(ctx, error);
      }
    },
    tables: async (ctx, path, page, match) => {
      const row = require(ctx, path);
      const found = await engines[row.kind].browse(deps.instanceOf(row), {
        limit: page.limit,
        cursor: page.after,
        match,
      });
      return { tables: found.entries, next_cursor: found.next === null ? null : encodeCursor(found.next) };
    },
  };
};

/** What a database says about writes in a read-only session is true, but not why the session is one. */
const withWriteHint = (ctx: Ctx, error: BerthError): BerthError => {
  if (error.kind !== 'CAPABILITY_MISSING') return error;
  const hint = holds(ctx.actor, 'manage_datastores')
    ? 'leave read_only out: this token may write'
    : 'use a token with the capability "manage_datastores"; with "query_datastores" alone queries only read';
  return new BerthError('CAPABILITY_MISSING', error.message, { hint });
};
