import type { ReleaseManifest } from '#kernel/release-manifest';
import type { DryRun } from '#kernel/schema';
import type { Event } from '#modules/events';
import type { LiveEvent } from '#modules/live';
import type { Accepted, Operation } from '#modules/operations';
import type { Project, ProjectTree } from '#modules/projects';
import type { Release } from '#modules/releases';
import type { Service, ServiceDetail, Settings } from '#modules/services';
import type {
  Backup,
  CreateDatastore,
  CreatedDatastore,
  Datastore,
  DatastoreDetail,
  ForkRequest,
  QueryInput,
  QueryReply,
  RestoreRequest,
  Tables,
  UpdateDatastore,
} from '#modules/datastores';
import type { EnvEntry, SetEnv } from '#modules/env';
import type { Token, UpdateToken, Whoami } from '#modules/tokens';
import { createHttp, type HttpOptions, type RequestOptions } from './http.ts';
import { reposApi } from './repos-api.ts';
import { watchApi } from './watch-api.ts';
import { followStream, type StreamEvent, type StreamOptions } from './stream.ts';

export type List<K extends string, T> = Record<K, T[]> & { next_cursor: string | null };
export type LogLine = { ts: string; replica: string; release: string; stream: string; line: string };
export type OperationStreamData = { line?: string; source?: string; phase?: string; message?: string; status?: string };

export interface Paging {
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface DeployRequest {
  stream: NonNullable<RequestOptions['stream']>;
  no_cache?: boolean | undefined;
  commit?: string | undefined;
}

const at = (...parts: string[]): string => `/v1/${parts.map(encodeURIComponent).join('/')}`;

const CONFIRM = { query: { confirm: true } };

/** Every operation of the API that the CLI uses, typed by the server's own models. */
export const createApi = (options: HttpOptions) => {
  const http = createHttp(options);
  const project = (name: string, ...rest: string[]): string => at('projects', name, ...rest);
  const service = (of: string, name: string, ...rest: string[]): string => project(of, 'services', name, ...rest);
  const datastore = (of: string, name: string, ...rest: string[]): string => project(of, 'datastores', name, ...rest);
  return {
    endpoint: options.endpoint,
    http,

    health: () => http.json<Record<string, unknown>>('GET', '/v1/health', { once: true }),
    skill: async () => (await http.open('GET', '/skill.md')).text(),
    whoami: () => http.json<Whoami>('GET', at('whoami')),
    capacity: () => http.json<Record<string, unknown>>('GET', '/v1/admin/capacity'),
    /** A document that the server gives as text. */
    text: async (path: string): Promise<string> => (await http.open('GET', path)).text(),

    createProject: (name: string) =>
      http.json<Project & { created: boolean }>('POST', at('projects'), { json: { name } }),
    listProjects: (page: Paging) => http.json<List<'projects', Project>>('GET', at('projects'), { query: { ...page } }),
    getProject: (name: string) => http.json<ProjectTree>('GET', project(name)),
    deleteProject: (name: string) => http.json<Accepted>('DELETE', project(name), CONFIRM),

    deploy: (of: string, name: string, { stream, ...query }: DeployRequest) =>
      http.json<Accepted>('POST', service(of, name, 'deploys'), { stream, query }),
    planDeploy: (of: string, name: string, stream: NonNullable<RequestOptions['stream']>) =>
      http.json<DryRun>('POST', service(of, name, 'deploys'), { stream, query: { dry_run: true } }),

    listServices: (of: string, page: Paging) =>
      http.json<List<'services', Service>>('GET', project(of, 'services'), { query: { ...page } }),
    getService: (of: string, name: string) => http.json<ServiceDetail>('GET', service(of, name)),
    changeService: (of: string, name: string, settings: Settings) =>
      http.json<Service & Partial<Accepted>>('PATCH', service(of, name), { json: settings }),
    deleteService: (of: string, name: string) => http.json<Accepted>('DELETE', service(of, name), CONFIRM),
    rollback: (of: string, name: string, release: string | undefined) =>
      http.json<Accepted>('POST', service(of, name, 'rollback'), { json: release === undefined ? {} : { release } }),
    restart: (of: string, name: string) => http.json<Accepted>('POST', service(of, name, 'restart')),
    listReleases: (of: string, name: string, page: Paging) =>
      http.json<List<'releases', Release>>('GET', service(of, name, 'releases'), { query: { ...page } }),

    setEnv: (of: string, values: Record<string, string | null>) =>
      http.json<SetEnv>('PUT', project(of, 'env'), { json: values }),
    listEnv: (of: string, page: Paging) =>
      http.json<List<'env', EnvEntry> & { names: string[]; injected: { name: string; datastore: string }[] }>(
        'GET',
        project(of, 'env'),
        { query: { ...page } },
      ),

    listDatastores: (of: string, page: Paging) =>
      http.json<List<'datastores', Datastore>>('GET', project(of, 'datastores'), { query: { ...page } }),
    createDatastore: (of: string, body: CreateDatastore) =>
      http.json<CreatedDatastore>('POST', project(of, 'datastores'), { json: body }),
    getDatastore: (of: string, name: string) => http.json<DatastoreDetail>('GET', datastore(of, name)),
    updateDatastore: (of: string, name: string, body: UpdateDatastore) =>
      http.json<Datastore & Partial<Accepted>>('PATCH', datastore(of, name), { json: body }),
    restartDatastore: (of: string, name: string) => http.json<Accepted>('POST', datastore(of, name, 'restart')),
    rotateDatastore: (of: string, name: string) => http.json<Accepted>('POST', datastore(of, name, 'rotate')),
    deleteDatastore: (of: string, name: string, finalBackup: boolean) =>
      http.json<Accepted>('DELETE', datastore(of, name), { query: { confirm: true, final_backup: finalBackup } }),
    forkDatastore: (of: string, name: string, body: ForkRequest) =>
      http.json<CreatedDatastore>('POST', datastore(of, name, 'fork'), { json: body }),
    listTables: (of: string, name: string, query: Paging & { match?: string | undefined }) =>
      http.json<Tables>('GET', datastore(of, name, 'tables'), { query: { ...query } }),
    queryDatastore: (of: string, name: string, body: QueryInput) =>
      http.json<QueryReply>('POST', datastore(of, name, 'query'), { json: body, once: true }),
    listBackups: (of: string, name: string, page: Paging) =>
      http.json<List<'backups', Backup>>('GET', datastore(of, name, 'backups'), { query: { ...page } }),
    getBackup: (of: string, name: string, key: string) => http.json<Backup>('GET', datastore(of, name, 'backups', key)),
    createBackup: (of: string, name: string) =>
      http.json<Accepted & { key: string }>('POST', datastore(of, name, 'backups')),
    deleteBackup: (of: string, name: string, key: string) =>
      http.json<Record<string, unknown>>('DELETE', datastore(of, name, 'backups', key), CONFIRM),
    downloadBackup: (of: string, name: string, key: string) =>
      http.open('GET', datastore(of, name, 'backups', key, 'download')),
    restoreBackup: (of: string, name: string, body: RestoreRequest) =>
      http.json<Accepted>('POST', datastore(of, name, 'restore'), { json: body }),
    undoRestore: (of: string, name: string) => http.json<Accepted>('POST', datastore(of, name, 'restore', 'undo')),
    tunnelPath: (of: string, name: string): string => datastore(of, name, 'tunnel'),

    ...reposApi(http, project),
    ...watchApi(http, service),

    listOperations: (
      query: Paging & { project?: string | undefined; service?: string | undefined; status?: string | undefined },
    ) => http.json<List<'operations', Operation>>('GET', at('operations'), { query: { ...query } }),
    getOperation: (id: string) => http.json<Operation>('GET', at('operations', id)),
    cancelOperation: (id: string) => http.json<Operation>('POST', at('operations', id, 'cancel')),

    clientManifest: () => http.json<ReleaseManifest>('GET', '/dl/manifest.json'),
    downloadClient: (name: string, from: number) => http.open('GET', `/dl/${encodeURIComponent(name)}`, part(from)),
    /** The same of any web server: the folder is the endpoint. */
    releaseManifest: () => http.json<unknown>('GET', '/manifest.json', { follow: true }),
    downloadRelease: (name: string, from: number) =>
      http.open('GET', `/${encodeURIComponent(name)}`, { ...part(from), follow: true }),

    createToken: (body: { principal: string; capabilities: string[]; projects: string[]; expires_at?: string }) =>
      http.json<Token & { secret: string; created: true }>('POST', at('tokens'), { json: body }),
    listTokens: (page: Paging) => http.json<List<'tokens', Token>>('GET', at('tokens'), { query: { ...page } }),
    updateToken: (id: string, body: UpdateToken) => http.json<Token>('PATCH', at('tokens', id), { json: body }),
    revokeToken: (id: string) => http.json<Record<string, unknown>>('DELETE', at('tokens', id)),
    followOperation: (
      id: string,
      onReconnect: (cause: string) => void,
    ): AsyncGenerator<StreamEvent<OperationStreamData>> =>
      followStream(http, at('operations', id, 'stream'), { isLast: (event) => event.event === 'done', onReconnect }),
    followLogs: (of: string, name: string, stream: StreamOptions): AsyncGenerator<StreamEvent<LogLine>> =>
      followStream(http, service(of, name, 'logs'), stream),
    followLive: (stream: StreamOptions): AsyncGenerator<StreamEvent<LiveEvent>> =>
      followStream(http, at('live'), stream),
    followEvents: (of: string, stream: StreamOptions): AsyncGenerator<StreamEvent<Event>> =>
      followStream(http, project(of, 'events'), stream),
  };
};

export type Api = ReturnType<typeof createApi>;

/** A file from a byte on, as it is on disk. */
const part = (from: number): RequestOptions => ({
  headers: { 'accept-encoding': 'identity', ...(from > 0 ? { range: `bytes=${from}-` } : {}) },
});
