import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Usage } from '#modules/usage';
import { at, call } from '../api.ts';

export const RANGES = [
  { value: '1h', label: '1 hour', words: 'the last hour' },
  { value: '6h', label: '6 hours', words: 'the last 6 hours' },
  { value: '24h', label: '1 day', words: 'the last day' },
  { value: '168h', label: '7 days', words: 'the last 7 days' },
] as const;

export type Range = (typeof RANGES)[number]['value'];

const POINTS = 240;

/** What a service used, from so long ago until now. */
export const usageRead = (project: string, service: string, range: Range) =>
  queryOptions({
    queryKey: ['usage', project, service, range],
    queryFn: ({ signal }) =>
      call<Usage>('GET', at('projects', project, 'services', service, 'usage'), {
        signal,
        query: { from: range, points: POINTS },
      }),
    placeholderData: keepPreviousData,
  });
