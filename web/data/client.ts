import { QueryClient, type QueryKey } from '@tanstack/react-query';
import { asApiError } from '../api.ts';

/** Reads are asked for again when they are this old and looked at; live topics keep most of them newer. */
const STALE_MS = 15_000;
const RETRIES = 2;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      gcTime: 30 * 60_000,
      // Offline is shown by the connection; a request that can't be sent should fail, not hang.
      networkMode: 'always',
      retry: (failures, thrown) => failures < RETRIES && asApiError(thrown).retryable,
      retryDelay: (failures) => Math.min(4000, 300 * 2 ** failures),
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

/** Keeps what the server has told by itself: an answer that is still under way is older, and must not replace it. */
export const keepTold = (queryKey: QueryKey, data: unknown, client = queries): void => {
  void client.cancelQueries({ queryKey, exact: true });
  client.setQueryData(queryKey, data);
};
