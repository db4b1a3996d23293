import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { ListedSession } from '#modules/sessions';
import type { Token } from '#modules/tokens';
import { at, call, callAll } from '../api.ts';

export const tokensRead = infiniteQueryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal, pageParam }) =>
    call<{ tokens: Token[]; next_cursor: string | null }>('GET', at('tokens'), {
      signal,
      query: { limit: 50, cursor: pageParam },
    }),
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.next_cursor,
});

/** The browsers that are signed in with the same token. */
export const sessionsRead = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => callAll<ListedSession>(at('sessions'), 'sessions', { signal }),
});
