import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ctxOf } from '#http/context';
import { ListQuery, listReply, pageOf } from '#http/list';
import { route } from '#http/route';
import { listOf, Name } from '#kernel/schema';
import { ComparisonSchema, ReleaseSchema } from './model.ts';
import type { Releases } from './service.ts';
import { releaseCursor } from './store.ts';

const ReleaseId = Type.String({
  pattern: '^rel_[0-9a-z_]{1,40}$',
  description: 'id of a release',
  examples: ['rel_3f2a9c01b7de'],
});

export const releasesRoutes = ({ releases }: { releases: Releases }) =>
  new Elysia()
    .get(
      '/v1/projects/:project/services/:service/releases',
      ({ request, params, query }) => {
        const page = pageOf(query);
        return listReply('releases', releases.listReleases(ctxOf(request), params, page), releaseCursor, page);
      },
      {
        params: Type.Object({ project: Name, service: Name }),
        query: ListQuery,
        response: { 200: listOf('releases', ReleaseSchema) },
        ...route({
          operationId: 'listReleases',
          capability: 'read',
          tag: 'releases',
          summary: 'List the releases of a service, newest first',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .get(
      '/v1/projects/:project/services/:service/releases/:release/compare',
      ({ request, params, query }) => releases.compare(ctxOf(request), params, query.with),
      {
        params: Type.Object({ project: Name, service: Name, release: ReleaseId }),
        query: Type.Object({ with: Type.Optional(ReleaseId) }),
        response: { 200: ComparisonSchema },
        ...route({
          operationId: 'compareReleases',
          capability: 'read',
          tag: 'releases',
          summary: 'Show what differs between the live release, or the one named by `with`, and a release',
          errors: ['NOT_FOUND', 'CONFLICT'],
        }),
      },
    );
