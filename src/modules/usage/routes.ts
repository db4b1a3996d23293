import { Type } from '@sinclair/typebox';
import { Elysia, t } from 'elysia';
import { ctxOf } from '#http/context';
import { route } from '#http/route';
import { Name } from '#kernel/schema';
import { UsageSchema } from './model.ts';
import { MOST_POINTS, type UsageReads } from './service.ts';

const UsageQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      description: 'from this time on: RFC 3339, or a duration such as `6h`; an hour before `to` when omitted',
    }),
  ),
  to: Type.Optional(Type.String({ description: 'to this time: RFC 3339, or a duration; now when omitted' })),
  points: Type.Optional(
    t.Numeric({
      minimum: 1,
      maximum: MOST_POINTS,
      multipleOf: 1,
      description: 'at most so many intervals, 120 when omitted',
    }),
  ),
});

export const usageRoutes = ({ usage }: { usage: UsageReads }) =>
  new Elysia().get(
    '/v1/projects/:project/services/:service/usage',
    ({ request, params, query }) => usage.usage(ctxOf(request), { ...query, ...params }),
    {
      params: Type.Object({ project: Name, service: Name }),
      query: UsageQuery,
      response: { 200: UsageSchema },
      ...route({
        operationId: 'getUsage',
        capability: 'read',
        tag: 'services',
        summary: 'Show requests, latency, errors, CPU, memory and restarts of a service over time',
        description:
          'Kept are intervals of 15 seconds for an hour, of a minute for a day, of ten minutes for a week; the finest that reaches back to `from` are merged until there are no more than `points`. Latencies are estimated from counted buckets.',
        errors: ['NOT_FOUND'],
      }),
    },
  );
