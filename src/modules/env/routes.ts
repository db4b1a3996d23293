import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ctxOf } from '#http/context';
import { ListQuery, listReply, pageOf } from '#http/list';
import { route } from '#http/route';
import type { Ctx } from '#kernel/ctx';
import { DryRunSchema, Name } from '#kernel/schema';
import { ListEnvReply, SetEnvBody, SetEnvReply } from './model.ts';
import type { Env } from './service.ts';

const ProjectPath = Type.Object({ project: Name });

export const envRoutes = ({ env }: { env: Env }) =>
  new Elysia()
    .put('/v1/projects/:project/env', ({ request, params, body }) => env.setEnv(ctxOf(request), params.project, body), {
      params: ProjectPath,
      body: SetEnvBody,
      response: { 200: Type.Union([SetEnvReply, DryRunSchema]) },
      ...route({
        operationId: 'setEnv',
        capability: 'manage_env',
        tag: 'env',
        summary: 'Merge name/value pairs into the environment; services with a live release restart without an outage',
        errors: ['NOT_FOUND', 'CONFLICT'],
        dryRun: true,
      }),
    })
    .get('/v1/projects/:project/env', ({ request, params, query }) => listEnv(env, ctxOf(request), params, query), {
      params: ProjectPath,
      query: ListQuery,
      response: { 200: ListEnvReply },
      ...route({
        operationId: 'listEnv',
        capability: 'read',
        tag: 'env',
        summary: 'List the names that are set; values are never returned',
        errors: ['NOT_FOUND'],
      }),
    });

/** The names once more by themselves: they are all that most callers want. */
const listEnv = (env: Env, ctx: Ctx, { project }: { project: string }, query: typeof ListQuery.static) => {
  const page = pageOf(query);
  const reply = listReply('env', env.listEnv(ctx, project, page), (entry) => entry.name, page);
  return { names: reply.env.map((entry) => entry.name), injected: env.injected(project), ...reply };
};
