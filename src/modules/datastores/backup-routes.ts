import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ctxOf } from '#http/context';
import { ListQuery, listReply, pageOf } from '#http/list';
import { route } from '#http/route';
import { DryRunSchema, listOf, Name } from '#kernel/schema';
import { AcceptedSchema, acceptedOr } from '#modules/operations';
import type { Backups, Download } from './backups.ts';
import { BackupSchema, CreateBackupReply, RestoreBody } from './model.ts';

const DatastorePath = Type.Object({ project: Name, name: Name });
const BackupPath = Type.Object({
  project: Name,
  name: Name,
  key: Type.String({ pattern: '^bkp_[0-9a-z]{1,40}$' }),
});
const tag = 'backups';

export const backupsRoutes = (deps: { backups: Backups }) =>
  new Elysia().use(storedRoutes(deps)).use(restoreRoutes(deps));

const storedRoutes = ({ backups }: { backups: Backups }) =>
  new Elysia()
    .get(
      '/v1/projects/:project/datastores/:name/backups',
      ({ request, params, query }) => {
        const page = pageOf(query);
        const found = backups.listBackups(ctxOf(request), params, page);
        return listReply('backups', found, (backup) => backup.key, page);
      },
      {
        params: DatastorePath,
        query: ListQuery,
        response: { 200: listOf('backups', BackupSchema) },
        ...route({
          operationId: 'listBackups',
          capability: 'read',
          tag,
          summary: 'List backups, newest first; those of a deleted datastore too',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .post(
      '/v1/projects/:project/datastores/:name/backups',
      ({ request, params }) => acceptedOr(backups.createBackup(ctxOf(request), params)),
      {
        params: DatastorePath,
        response: { 200: DryRunSchema, 202: CreateBackupReply },
        ...route({
          operationId: 'createBackup',
          capability: 'manage_datastores',
          tag,
          summary: 'Back up now; the operation succeeds once the backup was restored elsewhere and compared',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
        }),
      },
    )
    .get(
      '/v1/projects/:project/datastores/:name/backups/:key',
      ({ request, params }) => backups.getBackup(ctxOf(request), params, params.key),
      {
        params: BackupPath,
        response: { 200: BackupSchema },
        ...route({
          operationId: 'getBackup',
          capability: 'read',
          tag,
          summary: 'Show a backup: what is in it, when it was verified',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .get(
      '/v1/projects/:project/datastores/:name/backups/:key/download',
      async ({ request, params }) =>
        attachment(await backups.download(ctxOf(request), params, params.key, request.signal)),
      {
        params: BackupPath,
        ...route({
          operationId: 'downloadBackup',
          capability: 'manage_datastores',
          tag,
          summary: 'Download a backup, decrypted: a pg_dump archive, or an RDB file',
          errors: ['NOT_FOUND', 'CONFLICT'],
        }),
      },
    )
    .delete(
      '/v1/projects/:project/datastores/:name/backups/:key',
      ({ request, params }) => backups.deleteBackup(ctxOf(request), params, params.key),
      {
        params: BackupPath,
        response: { 200: Type.Union([Type.Object({ deleted: Type.Literal(true) }), DryRunSchema]) },
        ...route({
          operationId: 'deleteBackup',
          capability: 'manage_datastores',
          tag,
          summary: 'Delete a backup',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
          confirm: true,
        }),
      },
    );

const restoreRoutes = ({ backups }: { backups: Backups }) =>
  new Elysia()
    .post(
      '/v1/projects/:project/datastores/:name/restore',
      ({ request, params, body }) => acceptedOr(backups.restoreBackup(ctxOf(request), params, body)),
      {
        params: DatastorePath,
        body: RestoreBody,
        response: { 200: DryRunSchema, 202: AcceptedSchema },
        ...route({
          operationId: 'restoreBackup',
          capability: 'manage_datastores',
          tag,
          summary: 'Restore a backup beside the live data, check it, and swap; postgres only',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
        }),
      },
    )
    .post(
      '/v1/projects/:project/datastores/:name/restore/undo',
      ({ request, params }) => acceptedOr(backups.undoRestore(ctxOf(request), params)),
      {
        params: DatastorePath,
        response: { 200: DryRunSchema, 202: AcceptedSchema },
        ...route({
          operationId: 'undoRestore',
          capability: 'manage_datastores',
          tag,
          summary: 'Swap back the data that the last restore replaced',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
        }),
      },
    );

const attachment = ({ row, bytes }: Download): Response => {
  const iterator = bytes[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: async () => {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  const extension = row.kind === 'redis' ? 'rdb' : 'dump';
  return new Response(body, {
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${row.project}-${row.datastore}-${row.key}.${extension}"`,
    },
  });
};
