import type { Event } from '#modules/events';
import type { FoundLine } from '#modules/logs';
import type { Comparison } from '#modules/releases';
import type { Ended, ListedSession } from '#modules/sessions';
import type { Checks, Disk } from '#modules/system';
import type { Usage } from '#modules/usage';
import type { List, Paging } from './api.ts';
import type { Http } from './http.ts';

interface LogSearch {
  text?: string | undefined;
  replica?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

type ServicePath = (project: string, name: string, ...rest: string[]) => string;

/** Operations that look at what is, and at what was. */
export const watchApi = (http: Http, service: ServicePath) => ({
  disk: () => http.json<Disk>('GET', '/v1/admin/disk'),
  checks: () => http.json<Checks>('GET', '/v1/admin/checks'),
  searchLogs: (of: string, name: string, query: Paging & LogSearch) =>
    http.json<List<'lines', FoundLine>>('GET', service(of, name, 'logs', 'search'), { query: { ...query } }),
  downloadLogs: (of: string, name: string, query: LogSearch) =>
    http.open('GET', service(of, name, 'logs', 'download'), { query: { ...query } }),
  compareReleases: (of: string, name: string, release: string, other: string | undefined) =>
    http.json<Comparison>('GET', service(of, name, 'releases', release, 'compare'), { query: { with: other } }),
  getUsage: (of: string, name: string, query: { from?: string; points?: number }) =>
    http.json<Usage>('GET', service(of, name, 'usage'), { query }),
  listSessions: (page: Paging) =>
    http.json<List<'sessions', ListedSession>>('GET', '/v1/sessions', { query: { ...page } }),
  endSessions: () => http.json<Ended>('DELETE', '/v1/sessions'),
  listEvents: (query: Paging & Record<string, string | number | undefined>) =>
    http.json<List<'events', Event>>('GET', '/v1/events', { query }),
});
