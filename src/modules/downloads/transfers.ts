import { tooMany } from '#http/limits';

/** Bounds how many files are sent at once, so that downloads leave bandwidth and descriptors to the API. */
export interface Transfers {
  /** Throws QUOTA_EXCEEDED, to be retried, when there are too many. */
  begin(request: Request): void;
}

const RETRY_MS = 5000;

/**
 * The runtime sends files by itself and does not say when it is done: but it forgets the peer of a request that has ended,
 * and that can be asked for.
 */
export const createTransfers = (limit: number, isOpen: (request: Request) => boolean): Transfers => {
  const open = new Set<Request>();
  return {
    begin: (request) => {
      for (const other of open) if (!isOpen(other)) open.delete(other);
      if (open.size >= limit) throw tooMany('too many downloads are under way', RETRY_MS);
      open.add(request);
    },
  };
};
