import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ctxOf } from '#http/context';
import { route } from '#http/route';
import { DryRunSchema, Name } from '#kernel/schema';
import { AcceptedSchema } from '#modules/operations';
import type { CreateDeploy } from './create-deploy.ts';

const Params = Type.Object({ project: Name, service: Name });

/** Unknown parameters are refused by the guard, which knows `dry_run` too. */
const Query = Type.Object(
  {
    no_cache: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false')], { description: 'build every step anew' }),
    ),
    commit: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{7,64}$',
        description: 'commit that the source was taken from: 7 to 64 hex digits',
      }),
    ),
  },
  { additionalProperties: true },
);

/** `createDeploy`: the body is streamed by the verb itself, so Elysia must not read it. */
export const deployRoutes = (deps: { createDeploy: CreateDeploy }) =>
  new Elysia({ normalize: false }).post(
    '/v1/projects/:project/services/:service/deploys',
    async ({ request, params, query, set }) => {
      const reply = await deps.createDeploy(
        ctxOf(request),
        { ...params, noCache: query.no_cache === 'true', commit: query.commit ?? null },
        request,
      );
      set.status = 'dry_run' in reply ? 200 : 202;
      return reply;
    },
    {
      ...route({
        operationId: 'createDeploy',
        capability: 'deploy',
        tag: 'deploys',
        summary: 'Deploy a source directory',
        description:
          'The body is the source directory as a gzipped tar (at most 512 MB), raw or as the multipart file field `source`. With `dry_run=true` it is planned, not built.',
        errors: ['NO_PROVIDER_DETECTED', 'SOURCE_TOO_LARGE', 'QUOTA_EXCEEDED', 'CONFLICT', 'NOT_FOUND'],
        dryRun: true,
        upload: true,
      }),
      parse: 'none',
      params: Params,
      query: Query,
      response: { 200: DryRunSchema, 202: AcceptedSchema },
    },
  );
