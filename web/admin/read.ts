import { queryOptions } from '@tanstack/react-query';
import type { Capacity, Health } from '#modules/system';
import { at, call } from '../api.ts';

export const capacityRead = queryOptions({
  queryKey: ['capacity'],
  queryFn: ({ signal }) => call<Capacity>('GET', at('admin', 'capacity'), { signal }),
});

export const healthRead = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => call<Health>('GET', at('health'), { signal }),
});
