import type { Client } from 'pg';
import type { Clock } from '#kernel/clock';
import { BerthError, invalidInput } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { BrowsePage, BrowseRequest, DatastoreInstance, QueryRequest, QueryResult } from '../port.ts';
import { browse } from './browse.ts';
import type { Connect } from './connect.ts';
import { sqlState, statementFailure } from './failures.ts';
import { createLimit, type Limit, tookTooLong } from './limit.ts';
import { Portal, type PortalOutcome } from './portal.ts';
import { createSessions, onSession, type Sessions } from './sessions.ts';
import { createTypes, tabular, type TypeInfo, type Types } from './types.ts';

export interface PostgresConsole {
  query(instance: DatastoreInstance, request: QueryRequest): Promise<QueryResult>;
  browse(instance: DatastoreInstance, request: BrowseRequest): Promise<BrowsePage>;
  /** Ends the connections that are kept warm. */
  close(): void;
}

interface Tools {
  clock: Clock;
  sessions: Sessions;
  types: Types;
}

const MAX_STATEMENT_CHARACTERS = 4 * 1024 * 1024;
/** What the server may send beyond what is kept before it is cut off. */
const MARGIN_BYTES = 64 * 1024;
const CANCELLED = '57014';
const IN_TRANSACTION = '25001';
/** Of statements that refuse to run in a transaction block, and of procedures that end it: nothing of them was kept. */
const DEMANDS_NO_TRANSACTION = new Set([IN_TRANSACTION, '2D000']);
/** What the server calls the statements that begin and end transactions. */
const TRANSACTION_CONTROL = /^(?:BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PREPARE TRANSACTION)/;

/**
 * Queries as berth's reading or writing role. A reading one runs in a READ ONLY transaction that is always rolled back; a
 * writing one in a transaction of its own, or outside of one if the statement demands that (VACUUM, CREATE INDEX
 * CONCURRENTLY). A session is reset before another request gets it.
 */
export const createPostgresConsole = (deps: { clock: Clock; log: Log; connect: Connect }): PostgresConsole => {
  const tools = { clock: deps.clock, sessions: createSessions(deps), types: createTypes() };
  return {
    query: (instance, request) => query(tools, instance, request),
    browse: (instance, request) => browse(tools, instance, request),
    close: () => tools.sessions.close(),
  };
};

interface Run {
  tools: Tools;
  instance: DatastoreInstance;
  request: QueryRequest;
  limit: Limit;
}

interface Described {
  outcome: PortalOutcome;
  types: readonly TypeInfo[];
}

const query = async (tools: Tools, instance: DatastoreInstance, request: QueryRequest): Promise<QueryResult> => {
  checkText(request.query);
  const limit = createLimit(tools.clock, request);
  const run = { tools, instance, request, limit };
  try {
    return pageOf(request.write ? await write(run) : await read(run));
  } catch (thrown) {
    if (limit.signal.aborted && !(thrown instanceof CommitUnknown)) throw limit.signal.reason;
    throw failureOf(thrown, request);
  } finally {
    limit.end();
  }
};

const read = async (run: Run): Promise<Described> => {
  const { tools, instance, request, limit } = run;
  const how = { as: 'reader', prologue: begin('READ ONLY', request.timeoutMs), limit } as const;
  const described = await onSession(tools.sessions, instance, how, async (client) => {
    const outcome = await fetch(run, client);
    if (outcome.truncated && outcome.rows.length === 0 && request.maxRows > 0) throw tooLarge(request);
    return { outcome, types: outcome.cut ? undefined : await typesOf(run, client, outcome) };
  });
  if (described.types !== undefined) return { outcome: described.outcome, types: described.types };
  // The connection was cut off to stop the flood: what its columns are is asked on another one.
  const types = await onSession(tools.sessions, instance, how, (client) => typesOf(run, client, described.outcome));
  return { outcome: described.outcome, types };
};

const write = async (run: Run): Promise<Described> => {
  const { tools, instance, request, limit } = run;
  const inTransaction = { as: 'writer', prologue: begin('READ WRITE', request.timeoutMs), limit } as const;
  try {
    return await onSession(tools.sessions, instance, inTransaction, async (client) => {
      const described = await fetchForWrite(run, client);
      await commit(client);
      return described;
    });
  } catch (thrown) {
    if (!DEMANDS_NO_TRANSACTION.has(sqlState(thrown) ?? '')) throw thrown;
  }
  const alone = { as: 'writer', prologue: `SET statement_timeout = ${wholeMs(request.timeoutMs)}`, limit } as const;
  return onSession(tools.sessions, instance, alone, (client) => fetchForWrite(run, client));
};

const fetchForWrite = async (run: Run, client: Client): Promise<Described> => {
  const outcome = await fetch(run, client);
  if (outcome.cut) throw tooLarge(run.request);
  return { outcome, types: await typesOf(run, client, outcome) };
};

const fetch = async ({ tools, request }: Run, client: Client): Promise<PortalOutcome> => {
  const { query: text, params, maxRows, maxBytes } = request;
  // Cutting off a write undoes it, so it gets more room for rows that are not kept.
  const cutOffBytes = (request.write ? 2 * maxBytes : maxBytes) + MARGIN_BYTES;
  const portal = new Portal({ text, params, maxRows, maxBytes, cutOffBytes, now: () => tools.clock.monotonic() });
  const outcome = await client.query(portal).outcome;
  if (TRANSACTION_CONTROL.test(outcome.tag)) {
    throw invalidInput(
      `${outcome.tag} has no place here: each query is a transaction of its own`,
      'send one statement at a time, several as DO $$ BEGIN … END $$, or use berth db tunnel',
    );
  }
  return outcome;
};

const typesOf = ({ tools }: Run, client: Client, { fields }: PortalOutcome): Promise<readonly TypeInfo[]> =>
  tools.types.of(client, fields ?? []);

/** Whether a commit that got no answer happened is not known: nothing else may be said of it. */
class CommitUnknown extends BerthError {}

const commit = async (client: Client): Promise<void> => {
  try {
    await client.query('COMMIT');
  } catch (thrown) {
    if (sqlState(thrown) !== undefined) throw thrown;
    throw new CommitUnknown(
      'INTERNAL_ERROR',
      'Postgres did not answer the COMMIT: the changes may have been kept or not',
      {
        hint: 'look whether they are there before you send it again',
        cause: thrown,
      },
    );
  }
};

const begin = (access: 'READ ONLY' | 'READ WRITE', timeoutMs: number): string =>
  `BEGIN ISOLATION LEVEL READ COMMITTED ${access}; SET LOCAL statement_timeout = ${wholeMs(timeoutMs)}`;

/** 0 would be no limit at all. */
const wholeMs = (timeoutMs: number): number => Math.max(1, Math.ceil(timeoutMs));

const checkText = (text: string): void => {
  if (text.includes('\0')) throw invalidInput('the statement holds a NUL character', 'leave it out');
  if (!text.isWellFormed()) throw invalidInput('the statement is no valid Unicode text', 'send well-formed Unicode');
  if (text.length > MAX_STATEMENT_CHARACTERS) {
    throw invalidInput(
      `the statement has ${text.length} characters, the most are ${MAX_STATEMENT_CHARACTERS}`,
      'send data as parameters or in parts, or use berth db tunnel',
    );
  }
};

const pageOf = ({ outcome, types }: Described): QueryResult => {
  const { fields, truncated, durationMs } = outcome;
  const table = tabular(fields ?? [], types, outcome.rows);
  const row_count = fields === undefined ? changedRows(outcome.tag) : table.rows.length;
  return { ...table, row_count, truncated, duration_ms: Math.round(durationMs * 1000) / 1000 };
};

/** `INSERT 0 5`, `UPDATE 3`; what has no number changed none. */
const changedRows = (tag: string): number => Number(/ (\d+)$/.exec(tag)?.[1] ?? 0);

const tooLarge = ({ maxBytes, write }: QueryRequest): BerthError =>
  invalidInput(
    write
      ? `the rows that the statement returns exceed ${maxBytes} bytes by far: it was cut off before its end`
      : `not even the first row fits into ${maxBytes} bytes`,
    'name only the columns that you need, or take a part of a large value: left(body, 1000)',
  );

const failureOf = (thrown: unknown, request: QueryRequest): BerthError => {
  const state = sqlState(thrown);
  if (state === CANCELLED) return tookTooLong(request.timeoutMs, thrown);
  const failure = statementFailure(thrown);
  if (request.write || state !== IN_TRANSACTION) return failure;
  return invalidInput(
    failure.message,
    'a reading query is a transaction: ask for a write, which needs manage_datastores',
  );
};
