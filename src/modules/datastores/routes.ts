import { Type } from '@sinclair/typebox';
import { Elysia, status, t } from 'elysia';
import { ctxOf } from '#http/context';
import { ListQuery, listParams, listReply, pageOf } from '#http/list';
import { route } from '#http/route';
import { tunnelReply } from '#http/tunnels';
import { DryRunSchema, listOf, Name } from '#kernel/schema';
import { AcceptedSchema, acceptedOr } from '#modules/operations';
import {
  AcceptedRestarts,
  CreateDatastoreBody,
  CreateDatastoreReply,
  DatastoreDetailSchema,
  DatastoreSchema,
  ForkBody,
  QueryBody,
  QueryReply,
  TablesReply,
  UpdateDatastoreBody,
  type CreatedDatastore,
} from './model.ts';
import type { Backups } from './backups.ts';
import type { Queries } from './queries.ts';
import type { Datastores } from './service.ts';
import type { Tunnels } from './tunnels.ts';

export interface DatastoreRoutesDeps {
  datastores: Datastores;
  backups: Backups;
  queries: Queries;
  tunnels: Tunnels;
}

const ProjectPath = Type.Object({ project: Name });
export const DatastorePath = Type.Object({ project: Name, name: Name });
const tag = 'datastores';

const DeleteQuery = Type.Object({
  final_backup: Type.Optional(
    t.BooleanString({ description: 'make a last, verified backup first; when that fails, nothing is deleted' }),
  ),
});

const TablesQuery = Type.Object({
  ...listParams,
  match: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'part of the name; for redis a glob such as `user:*`' }),
  ),
});

/** Everything about datastores but their backups. */
export const datastoresRoutes = (deps: DatastoreRoutesDeps) =>
  new Elysia().use(lifecycleRoutes(deps)).use(changeRoutes(deps)).use(consoleRoutes(deps));

const lifecycleRoutes = ({ datastores }: DatastoreRoutesDeps) =>
  new Elysia()
    .get(
      '/v1/projects/:project/datastores',
      ({ request, params, query }) => {
        const page = pageOf(query);
        const found = datastores.listDatastores(ctxOf(request), params.project, page);
        return listReply('datastores', found, (datastore) => datastore.name, page);
      },
      {
        params: ProjectPath,
        query: ListQuery,
        response: { 200: listOf('datastores', DatastoreSchema) },
        ...route({
          operationId: 'listDatastores',
          capability: 'read',
          tag,
          summary: 'List datastores',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .post(
      '/v1/projects/:project/datastores',
      async ({ request, params, body }) =>
        created(await datastores.createDatastore(ctxOf(request), params.project, body)),
      {
        params: ProjectPath,
        body: CreateDatastoreBody,
        response: { 200: Type.Union([CreateDatastoreReply, DryRunSchema]), 202: CreateDatastoreReply },
        ...route({
          operationId: 'createDatastore',
          capability: 'manage_datastores',
          tag,
          summary: 'Make a postgres, redis or mongo datastore; its variables are given to every service of the project',
          description:
            'Replies 202 with the datastore, still `provisioning`, and the operation that makes it; 200 with `created: false` when it exists.',
          errors: ['NOT_FOUND', 'CONFLICT', 'QUOTA_EXCEEDED'],
          dryRun: true,
        }),
      },
    )
    .get(
      '/v1/projects/:project/datastores/:name',
      ({ request, params }) => datastores.getDatastore(ctxOf(request), params),
      {
        params: DatastorePath,
        response: { 200: DatastoreDetailSchema },
        ...route({
          operationId: 'getDatastore',
          capability: 'read',
          tag,
          summary: 'Show a datastore: status, variables, size, backups; never its password',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .delete(
      '/v1/projects/:project/datastores/:name',
      ({ request, params, query }) =>
        acceptedOr(datastores.deleteDatastore(ctxOf(request), params, { finalBackup: query.final_backup ?? false })),
      {
        params: DatastorePath,
        query: DeleteQuery,
        response: { 200: DryRunSchema, 202: AcceptedRestarts },
        ...route({
          operationId: 'deleteDatastore',
          capability: 'manage_datastores',
          tag,
          summary: 'Delete a datastore with its data; its backups stay until their time is over',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
          confirm: true,
        }),
      },
    );

const changeRoutes = ({ datastores, backups }: DatastoreRoutesDeps) =>
  new Elysia()
    .patch(
      '/v1/projects/:project/datastores/:name',
      ({ request, params, body }) => acceptedOr(datastores.updateDatastore(ctxOf(request), params, body)),
      {
        params: DatastorePath,
        body: UpdateDatastoreBody,
        response: { 200: Type.Union([DatastoreSchema, DryRunSchema]), 202: AcceptedSchema },
        ...route({
          operationId: 'updateDatastore',
          capability: 'manage_datastores',
          tag,
          summary: 'Change memory, CPU or storage limit; another memory or CPU limit restarts the datastore',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
        }),
      },
    )
    .post(
      '/v1/projects/:project/datastores/:name/restart',
      ({ request, params }) => acceptedOr(datastores.restartDatastore(ctxOf(request), params)),
      {
        params: DatastorePath,
        response: { 200: DryRunSchema, 202: AcceptedSchema },
        ...route({
          operationId: 'restartDatastore',
          capability: 'manage_datastores',
          tag,
          summary: 'Restart on the newest image of its version: an upgrade within the major version',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
        }),
      },
    )
    .post(
      '/v1/projects/:project/datastores/:name/rotate',
      ({ request, params }) => acceptedOr(datastores.rotateDatastore(ctxOf(request), params)),
      {
        params: DatastorePath,
        response: { 200: DryRunSchema, 202: AcceptedRestarts },
        ...route({
          operationId: 'rotateDatastore',
          capability: 'manage_datastores',
          tag,
          summary: 'Give the services a new credential, replica by replica, then void the old one',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
        }),
      },
    )
    .post(
      '/v1/projects/:project/datastores/:name/fork',
      async ({ request, params, body }) => created(await backups.forkDatastore(ctxOf(request), params, body)),
      {
        params: DatastorePath,
        body: ForkBody,
        response: { 200: Type.Union([CreateDatastoreReply, DryRunSchema]), 202: CreateDatastoreReply },
        ...route({
          operationId: 'forkDatastore',
          capability: 'manage_datastores',
          tag,
          summary: 'Make another datastore from a backup, the newest verified one unless a key is given',
          errors: ['NOT_FOUND', 'CONFLICT', 'QUOTA_EXCEEDED'],
          dryRun: true,
        }),
      },
    );

const consoleRoutes = ({ queries, tunnels }: DatastoreRoutesDeps) =>
  new Elysia()
    .get(
      '/v1/projects/:project/datastores/:name/tables',
      ({ request, params, query }) => queries.tables(ctxOf(request), params, pageOf(query), query.match),
      {
        params: DatastorePath,
        query: TablesQuery,
        response: { 200: TablesReply },
        ...route({
          operationId: 'listDatastoreTables',
          capability: 'query_datastores',
          tag,
          summary: 'List tables with columns and sizes, Redis keys with types and TTL, or Mongo collections',
          errors: ['NOT_FOUND', 'CONFLICT'],
        }),
      },
    )
    .post(
      '/v1/projects/:project/datastores/:name/query',
      ({ request, params, body }) => queries.query(ctxOf(request), params, body, request.signal),
      {
        params: DatastorePath,
        body: QueryBody,
        response: { 200: Type.Union([QueryReply, DryRunSchema]) },
        ...route({
          operationId: 'queryDatastore',
          capability: 'query_datastores',
          tag,
          summary: 'Run one SQL statement, Redis command or Mongo command',
          description:
            'Reads only, unless the token holds `manage_datastores` too. At most 500 rows; each query is an event of the project.',
          errors: ['NOT_FOUND', 'CONFLICT', 'TIMEOUT'],
          dryRun: true,
        }),
      },
    )
    .get(
      '/v1/projects/:project/datastores/:name/tunnel',
      ({ request, params }) => tunnelReply(request, tunnels.open(ctxOf(request), params)),
      {
        params: DatastorePath,
        ...route({
          operationId: 'openTunnel',
          capability: 'manage_datastores',
          tag,
          summary: 'A connection to the datastore in its own protocol, over WebSocket; no password is needed',
          description:
            'Binary messages carry bytes. Text messages carry the number of bytes taken since the last one: neither side sends more than 1 MiB beyond what was acknowledged. `berth db tunnel` makes a local port of it.',
          errors: ['NOT_FOUND', 'CONFLICT', 'QUOTA_EXCEEDED'],
          bearerOnly: true,
        }),
      },
    );

const created = <T extends object>(reply: CreatedDatastore | T) =>
  'created' in reply && reply.operation_id !== null ? status(202, reply) : reply;
