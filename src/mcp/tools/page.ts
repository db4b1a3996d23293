import { Type } from '@sinclair/typebox';
import { DEFAULT_LIMIT, MAX_LIMIT } from '#kernel/schema';

/** Where a list goes on, as arguments of a tool. */
export const PAGE = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_LIMIT, description: `at most so many; ${DEFAULT_LIMIT} when omitted` }),
  ),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the list before' })),
};
