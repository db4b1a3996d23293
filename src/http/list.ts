import { t } from 'elysia';
import { Type } from '@sinclair/typebox';
import { invalidInput } from '#kernel/errors';
import { DEFAULT_LIMIT, MAX_LIMIT, type Page } from '#kernel/schema';

/** The parameters of a list; spread them into the `Type.Object` of a list with filters. */
export const listParams = {
  limit: Type.Optional(
    t.Numeric({
      minimum: 1,
      maximum: MAX_LIMIT,
      multipleOf: 1,
      description: `how many, ${DEFAULT_LIMIT} when omitted`,
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 1000, description: '`next_cursor` of the page before' })),
};

/** Query schema of a list without filters. */
export const ListQuery = Type.Object(listParams);

/** Turns a list's query into a page. */
export const pageOf = (query: { limit?: number | undefined; cursor?: string | undefined }): Page => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw invalidInput(`query.limit must be a whole number from 1 to ${MAX_LIMIT}`, 'omit it to get the default of 50');
  }
  return { limit, after: query.cursor === undefined ? undefined : decodeCursor(query.cursor) };
};

/**
 * The reply of a list. `items` are at most `page.limit + 1` in the list's order, as stores return them: one more than
 * asked for says that there is a next page.
 */
export const listReply = <K extends string, T>(
  plural: K,
  items: readonly T[],
  keyOf: (item: T) => string,
  page: Page,
): { [P in K]: T[] } & { next_cursor: string | null } => {
  const shown = items.length > page.limit ? items.slice(0, page.limit) : items;
  const last = shown.at(-1);
  const more = items.length > page.limit && last !== undefined;
  return { [plural]: shown, next_cursor: more ? encodeCursor(keyOf(last)) : null } as {
    [P in K]: T[];
  } & { next_cursor: string | null };
};

export const encodeCursor = (key: string): string => Buffer.from(key, 'utf8').toString('base64url');

const decodeCursor = (cursor: string): string => {
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  if (key === '' || encodeCursor(key) !== cursor) {
    throw invalidInput(
      'query.cursor is not one that this API gave out',
      'pass next_cursor of the page before, unchanged, or omit it',
    );
  }
  return key;
};
