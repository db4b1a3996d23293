import { queryOptions } from '@tanstack/react-query';
import type { Capacity, Checks, Disk } from '#modules/system';
import { at, call } from '../api.ts';

export const capacityRead = queryOptions({
  queryKey: ['capacity'],
  queryFn: ({ signal }) => call<Capacity>('GET', at('admin', 'capacity'), { signal }),
});

export const checksRead = queryOptions({
  queryKey: ['checks'],
  queryFn: ({ signal }) => call<Checks>('GET', at('admin', 'checks'), { signal }),
});

export const diskRead = queryOptions({
  queryKey: ['disk'],
  queryFn: ({ signal }) => call<Disk>('GET', at('admin', 'disk'), { signal }),
});
