import { usageError } from '../failure.ts';
import type { Paging } from './api.ts';

/** `--limit`, `--cursor` and `--all` of a command that lists. */
export interface ListFlags extends Paging {
  all?: boolean | undefined;
}

interface Page {
  next_cursor: string | null;
}

/** What the API gives at most in one page. */
const PAGE = 200;

/**
 * Reads as many pages as the flags ask for, as one reply: the arrays under `keys` are joined, `next_cursor` is that of the
 * last page, all else is of the first. `pageSize`: the most that the API gives at once.
 */
export const readPages = async <K extends string, R extends Page & Record<K, unknown[]>>(
  { all = false, limit, cursor }: ListFlags,
  keys: readonly K[],
  read: (page: Paging) => Promise<R>,
  pageSize = PAGE,
): Promise<R> => {
  if (all && limit !== undefined) throw usageError('--all and --limit contradict each other', 'give one of them');
  const wanted = all ? Number.POSITIVE_INFINITY : limit;
  if (wanted === undefined) return read({ cursor });
  const reply = await read({ limit: Math.min(wanted, pageSize), cursor });
  const lists = keys.map((key) => reply[key]);
  const [first = []] = lists;
  while (reply.next_cursor !== null && first.length < wanted) {
    const page = await read({ limit: Math.min(wanted - first.length, pageSize), cursor: reply.next_cursor });
    for (const [index, key] of keys.entries()) for (const item of page[key]) lists[index]?.push(item);
    // A page of nothing would be followed by itself for ever.
    reply.next_cursor = page[keys[0] as K].length === 0 ? null : page.next_cursor;
  }
  return reply;
};
