import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Usage } from '#modules/usage';
import { at, call, type Query } from '../api.ts';
import { useLive } from '../live.ts';

export const RANGES = [
  { value: '1h', label: '1 hour', words: 'the last hour' },
  { value: '6h', label: '6 hours', words: 'the last 6 hours' },
  { value: '24h', label: '1 day', words: 'the last day' },
  { value: '168h', label: '7 days', words: 'the last 7 days' },
] as const;

export type Range = (typeof RANGES)[number]['value'];

const POINTS = 240;
/** A minute each: enough for a line without axes. */
const GLANCE_POINTS = 60;
/** The finest intervals are this long: nothing is newer. */
const RENEW_MS = 15_000;

const read = (project: string, service: string, name: string, query: Query) =>
  queryOptions({
    queryKey: ['usage', project, service, name],
    queryFn: ({ signal }) =>
      call<Usage>('GET', at('projects', project, 'services', service, 'usage'), { signal, query }),
    placeholderData: keepPreviousData,
  });

/** What a service used, from so long ago until now. */
export const usageRead = (project: string, service: string, range: Range) =>
  read(project, service, range, { from: range, points: POINTS });

/** The last hour, for a glance. */
export const glanceRead = (project: string, service: string) =>
  read(project, service, 'glance', { from: '1h', points: GLANCE_POINTS });

/** Reads the usage of a service anew as it is measured. */
export const useUsageLive = (project: string, service: string): void => {
  const client = useQueryClient();
  const renewed = useRef(0);
  useLive(`usage:${project}/${service}`, () => {
    if (Date.now() - renewed.current < RENEW_MS) return;
    renewed.current = Date.now();
    void client.invalidateQueries({ queryKey: ['usage', project, service] });
  });
};
