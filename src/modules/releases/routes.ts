import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ctxOf } from '#http/context';
import { ListQuery, listReply, pageOf } from '#http/list';
import { route } from '#http/route';
import { listOf, Name } from '#kernel/schema';
import { ReleaseSchema } from './model.ts';
import type { Releases } from './service.ts';
import { releaseCursor } from './store.ts';

export const releasesRoutes = ({ releases }: { releases: Releases }) =>
  new Elysia().get(
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
  );
