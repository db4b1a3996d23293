import type { Datastore, QueryReply } from '#modules/datastores';
import { ApiError, asApiError, call } from '../api.ts';
import { queries } from '../data/client.ts';
import { datastoreAt, type Entry } from './reads.ts';

export interface Statement {
  query: string;
  params?: unknown[];
  readOnly: boolean;
  limit?: number;
}

/** Runs one statement. A right that was lost since is looked up again, so that the page shows what is left. */
export const run = async (
  { project, name }: Pick<Datastore, 'project' | 'name'>,
  { query, params, readOnly, limit }: Statement,
  signal?: AbortSignal,
): Promise<QueryReply> => {
  try {
    return await call<QueryReply>('POST', datastoreAt(project, name, 'query'), {
      json: {
        query,
        ...(params !== undefined && params.length > 0 && { params }),
        ...(readOnly && { read_only: true }),
        ...(limit !== undefined && { limit }),
      },
      ...(signal !== undefined && { signal }),
    });
  } catch (thrown) {
    if (asApiError(thrown).code === 'CAPABILITY_MISSING') void queries.invalidateQueries({ queryKey: ['session'] });
    throw thrown;
  }
};

/** What a database refuses because of the page's own switch is told in terms of that switch. */
export const withSwitchHint = (thrown: unknown, mayWrite: boolean): unknown => {
  const error = asApiError(thrown);
  if (!mayWrite || error.code !== 'CAPABILITY_MISSING' || !error.hint.includes('read_only')) return thrown;
  const { message, retryable, status, requestId } = error;
  return new ApiError(
    { code: error.code, message, hint: 'turn on “Allow writes” and run it again', retryable },
    status,
    requestId,
  );
};

const PREVIEWED = 100;

/** What shows the content of a table, key or collection. Names are quoted, or go as arguments. */
export const lookInto = (kind: Datastore['kind'], { name, type, schema }: Entry): Statement => {
  if (kind === 'postgres')
    return {
      query: `select * from ${[...(schema === undefined ? [] : [schema]), name].map(identifier).join('.')} limit ${PREVIEWED}`,
      readOnly: true,
    };
  if (kind === 'mongo') return { query: JSON.stringify({ find: name, limit: PREVIEWED }), readOnly: true };
  const [command, ...further] = REDIS_READS[type] ?? ['TYPE'];
  return { query: command, params: [name, ...further], readOnly: true };
};

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const LAST = String(PREVIEWED - 1);
const REDIS_READS: Record<string, [command: string, ...further: string[]]> = {
  string: ['GET'],
  hash: ['HGETALL'],
  list: ['LRANGE', '0', LAST],
  set: ['SSCAN', '0', 'COUNT', String(PREVIEWED)],
  zset: ['ZRANGE', '0', LAST, 'WITHSCORES'],
  stream: ['XRANGE', '-', '+', 'COUNT', String(PREVIEWED)],
};
