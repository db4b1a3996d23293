import type { NewId } from '#kernel/ids';

/** Ids of requests, cheap because every request gets one: an id of this start, and a counter. */
export const createRequestIds = (newId: NewId): (() => string) => {
  const start = newId('req');
  let count = 0;
  return () => {
    count += 1;
    return `${start}-${count}`;
  };
};
