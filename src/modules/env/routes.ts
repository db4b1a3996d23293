import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ctxOf } from '#http/context';
import { route } from '#http/route';
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
        summary:
          'Merge name/value pairs into the environment; services with a live release restart, one replica after the other',
        errors: ['NOT_FOUND', 'CONFLICT'],
        dryRun: true,
      }),
    })
    .get('/v1/projects/:project/env', ({ request, params }) => env.listEnv(ctxOf(request), params.project), {
      params: ProjectPath,
      response: { 200: ListEnvReply },
      ...route({
        operationId: 'listEnv',
        capability: 'read',
        tag: 'env',
        summary: 'List the names that are set; values are never returned',
        errors: ['NOT_FOUND'],
      }),
    });
