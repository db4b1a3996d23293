import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { route } from '#http/route';
import { docsFile, docsPage } from './docs.ts';
import { renderMetrics, type MetricsDeps } from './metrics.ts';
import { CapacitySchema, ChecksSchema, DiskSchema, HealthSchema } from './model.ts';
import type { ApiDocument } from './openapi/document.ts';
import { originOf } from '#http/origin';
import { schemaReply } from './schemas.ts';
import type { System } from './service.ts';
import { skillReply } from './skill.ts';

export interface SystemRoutesDeps {
  system: System;
  metrics: MetricsDeps;
  /** Known once all routes are. */
  document: () => ApiDocument;
}

const tag = 'system';

export const systemRoutes = ({ system, metrics, document }: SystemRoutesDeps) =>
  new Elysia()
    .get('/v1/health', () => system.health(), {
      response: { 200: HealthSchema },
      ...route({
        operationId: 'getHealth',
        capability: 'public',
        tag,
        summary: 'Say whether berth and what it stands on answer',
        description: 'Always 200 while berth runs; `status` is `degraded` when something behind it does not answer.',
      }),
    })
    .get('/v1/admin/capacity', () => system.capacity(), {
      response: { 200: CapacitySchema },
      ...route({
        operationId: 'clusterCapacity',
        capability: 'admin',
        tag,
        summary: 'Show capacity, use, quotas and versions of the server',
      }),
    })
    .get('/v1/admin/disk', () => system.disk(), {
      response: { 200: DiskSchema },
      ...route({
        operationId: 'diskByProject',
        capability: 'admin',
        tag,
        summary: 'Show what each project has on disk: images, build cache, logs, datastores, backups, repositories',
      }),
    })
    .get('/v1/admin/checks', () => system.checks(), {
      response: { 200: ChecksSchema },
      ...route({
        operationId: 'runChecks',
        capability: 'admin',
        tag,
        summary: 'Say what an administrator has to look at, and what to do about it',
        description: 'From the server’s own point of view; `berth doctor` on the server looks at the machine too.',
      }),
    })
    .get('/metrics', () => text(renderMetrics(metrics), 'text/plain; version=0.0.4; charset=utf-8'), {
      ...route({
        operationId: 'getMetrics',
        capability: 'admin',
        tag,
        summary: 'Metrics in the Prometheus text format',
      }),
    })
    .get('/v1/openapi', () => text(document().json(), 'application/json'), {
      ...route({ operationId: 'getOpenApi', capability: 'public', tag, summary: 'This specification as JSON' }),
    })
    .get('/v1/openapi.yaml', () => text(document().yaml(), 'application/yaml; charset=utf-8'), {
      ...route({ operationId: 'getOpenApiYaml', capability: 'public', tag, summary: 'This specification as YAML' }),
    })
    .get('/v1/docs', () => docsPage(), {
      ...route({ operationId: 'getDocs', capability: 'public', tag, summary: 'Interactive documentation' }),
    })
    .get('/v1/docs/:file', ({ params }) => docsFile(params.file), {
      params: Type.Object({ file: Type.String({ examples: ['start.js'] }) }),
      ...route({ operationId: 'getDocsFile', capability: 'public', tag, summary: 'Parts of the documentation page' }),
    })
    .get('/schema/:file', ({ params }) => schemaReply(params.file), {
      params: Type.Object({ file: Type.String() }),
      ...route({
        operationId: 'getTomlSchema',
        capability: 'public',
        tag,
        summary: 'JSON schemas of berth.toml, for editors',
        page: true,
      }),
    })
    .get('/skill.md', ({ request, query }) => skillReply(query.v, originOf(request)), {
      query: Type.Object({ v: Type.Optional(Type.String({ description: 'pins the version of the contract: 1' })) }),
      ...route({ operationId: 'getSkill', capability: 'public', tag, summary: 'The guide for software agents' }),
    });

const text = (body: string, type: string): Response => new Response(body, { headers: { 'content-type': type } });
