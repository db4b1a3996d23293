import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Operation } from '#modules/operations';
import type { Project, ProjectTree } from '#modules/projects';
import type { Release } from '#modules/releases';
import type { ServiceDetail } from '#modules/services';
import { at, call, callAll, type Query } from '../api.ts';

/** What several features read, each under one key: live events write to the same keys. */

export const projectsRead = () =>
  queryOptions({
    queryKey: ['projects'],
    queryFn: ({ signal }) => callAll<Project>(at('projects'), 'projects', { signal }),
  });

export const projectRead = (project: string) =>
  queryOptions({
    queryKey: ['project', project],
    queryFn: ({ signal }) => call<ProjectTree>('GET', at('projects', project), { signal }),
  });

export const serviceRead = (project: string, service: string) =>
  queryOptions({
    queryKey: ['service', project, service],
    queryFn: ({ signal }) => call<ServiceDetail>('GET', at('projects', project, 'services', service), { signal }),
  });

export const releasesRead = (project: string, service: string) =>
  infiniteQueryOptions({
    queryKey: ['releases', project, service],
    queryFn: ({ signal, pageParam }) =>
      call<{ releases: Release[]; next_cursor: string | null }>(
        'GET',
        at('projects', project, 'services', service, 'releases'),
        {
          signal,
          query: { limit: 30, cursor: pageParam },
        },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });

export const operationRead = (id: string) =>
  queryOptions({
    queryKey: ['operation', id],
    queryFn: ({ signal }) => call<Operation>('GET', at('operations', id), { signal }),
  });

/** The newest operations, by project, service, status or kind. */
export const operationsRead = (filter: Query = {}) =>
  queryOptions({
    queryKey: ['operations', filter],
    queryFn: async ({ signal }) => {
      const reply = await call<{ operations: Operation[] }>('GET', at('operations'), {
        signal,
        query: { limit: 20, ...filter },
      });
      return reply.operations;
    },
  });
