import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Backup, Datastore, DatastoreDetail, Tables } from '#modules/datastores';
import { at, call, callAll } from '../api.ts';
import { queries } from '../data/client.ts';

export const datastoreAt = (project: string, name: string, ...rest: string[]): string =>
  at('projects', project, 'datastores', name, ...rest);

export const datastoresRead = (project: string) =>
  queryOptions({
    queryKey: ['datastores', project],
    queryFn: ({ signal }) => callAll<Datastore>(at('projects', project, 'datastores'), 'datastores', { signal }),
  });

export const datastoreRead = (project: string, name: string) =>
  queryOptions({
    queryKey: ['datastores', project, name],
    queryFn: ({ signal }) => call<DatastoreDetail>('GET', datastoreAt(project, name), { signal }),
  });

export const backupsRead = (project: string, name: string) =>
  queryOptions({
    queryKey: ['datastores', project, name, 'backups'],
    queryFn: ({ signal }) => callAll<Backup>(datastoreAt(project, name, 'backups'), 'backups', { signal }),
  });

/** Under a key of its own: what is in a datastore is not asked for again whenever something of the project changes. */
export const tablesRead = (project: string, name: string, match: string) =>
  infiniteQueryOptions({
    queryKey: ['tables', project, name, match],
    queryFn: ({ signal, pageParam }) =>
      call<Tables>('GET', datastoreAt(project, name, 'tables'), {
        signal,
        query: { limit: 100, match, cursor: pageParam },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    staleTime: 60_000,
  });

export type Entry = Tables['tables'][number];

/** After a change: everything about the project's datastores is asked for again. */
export const datastoresChanged = (project: string): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['datastores', project] });
