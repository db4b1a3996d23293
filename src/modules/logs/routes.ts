import { Type } from '@sinclair/typebox';
import { Elysia, t } from 'elysia';
import { ctxOf } from '#http/context';
import { route } from '#http/route';
import { lastEventId, lastEventSeq, sseResponse } from '#http/sse';
import type { Clock } from '#kernel/clock';
import { Name } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import { parseSince } from '#kernel/since';
import type { ServiceLogs } from './service.ts';
import { pump } from './stream.ts';

export interface LogRoutesDeps {
  logs: ServiceLogs;
  clock: Clock;
  /** NOT_FOUND for a missing project or service. */
  requireService: (project: string, service: string) => void;
}

const DEFAULT_TAIL = 100;
const MAX_TAIL = 100_000;

const LogsQuery = Type.Object({
  tail: Type.Optional(
    t.Numeric({
      minimum: 0,
      maximum: MAX_TAIL,
      multipleOf: 1,
      description: `replay so many lines first; ${DEFAULT_TAIL} when omitted, all with \`since\``,
    }),
  ),
  since: Type.Optional(Type.String({ description: 'lines from this time on: RFC 3339, or a duration such as `10m`' })),
  follow: Type.Optional(t.BooleanString({ description: 'false ends the stream after what is stored' })),
  replica: Type.Optional(Type.String({ maxLength: 200, description: 'only this replica, by name' })),
  release: Type.Optional(Type.String({ maxLength: 100, description: 'only replicas of this release' })),
});

export const logsRoutes = (deps: LogRoutesDeps) =>
  new Elysia().get(
    '/v1/projects/:project/services/:service/logs',
    ({ request, params, query }) => streamLogs(deps, request, { ...query, ...params }),
    {
      params: Type.Object({ project: Name, service: Name }),
      query: LogsQuery,
      ...route({
        operationId: 'streamLogs',
        capability: 'read',
        tag: 'logs',
        summary: "Follow a service's log, lines of dead replicas included",
        description:
          '`log` events with `{ts, replica, release, stream, line}`. `Last-Event-ID` resumes without gap or repetition.',
        errors: ['NOT_FOUND'],
        stream: true,
      }),
    },
  );

type StreamRequest = typeof LogsQuery.static & { project: string; service: string };

const streamLogs = (
  { logs, clock, requireService }: LogRoutesDeps,
  request: Request,
  wanted: StreamRequest,
): Response => {
  const { project, service, replica, release } = wanted;
  requireProject(ctxOf(request).actor, project);
  requireService(project, service);
  const since = wanted.since === undefined ? undefined : parseSince(wanted.since, clock.now());
  const filter = { replica, release, since };
  const lines = wanted.tail ?? (since === undefined ? DEFAULT_TAIL : Number.POSITIVE_INFINITY);
  const from = lastEventId(request) === undefined ? { ...filter, lines } : { after: lastEventSeq(request), filter };
  return sseResponse({
    request,
    start: (reader) => pump(logs.read(project, service, from), reader, wanted.follow ?? true),
  });
};
