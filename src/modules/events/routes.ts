import { Type } from '@sinclair/typebox';
import { Elysia, t } from 'elysia';
import { ctxOf } from '#http/context';
import { listParams, listReply, pageOf } from '#http/list';
import { route } from '#http/route';
import { encodeFrame, lastEventId, lastEventSeq, replayThenFollow, sseResponse } from '#http/sse';
import type { Clock } from '#kernel/clock';
import { listOf, Name } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import { parseSince } from '#kernel/since';
import { EventSchema, type Event } from './model.ts';
import type { Events } from './service.ts';

export interface EventRoutesDeps {
  events: Events;
  clock: Clock;
  /** NOT_FOUND for a missing project. */
  requireExists: (project: string) => void;
}

const DEFAULT_TAIL = 50;
/** Events read from the table at a time. */
const PAGE = 200;

const EventsQuery = Type.Object({
  tail: Type.Optional(
    t.Numeric({
      minimum: 0,
      maximum: 5000,
      multipleOf: 1,
      description: `replay so many first; ${DEFAULT_TAIL} when omitted`,
    }),
  ),
  since: Type.Optional(Type.String({ description: 'replay from this time on: RFC 3339, or a duration such as `10m`' })),
  follow: Type.Optional(t.BooleanString({ description: 'false ends the stream after the replay' })),
});

const ListEventsQuery = Type.Object({
  ...listParams,
  project: Type.Optional(Type.Union([Name, Type.Literal('*')], { description: '`*`: what concerns the whole server' })),
  kind: Type.Optional(
    Type.String({
      pattern: '^[a-z_]+(?:\\.[a-z_]+)?$',
      maxLength: 60,
      description: 'a kind, or the part before its dot',
      examples: ['deploy'],
    }),
  ),
  actor: Type.Optional(Type.String({ maxLength: 100, description: 'principal who caused it' })),
  since: Type.Optional(Type.String({ description: 'from this time on: RFC 3339, or a duration such as `2h`' })),
  until: Type.Optional(Type.String({ description: 'before this time: RFC 3339, or a duration' })),
});

const listEvents = ({ events, clock }: EventRoutesDeps, request: Request, query: typeof ListEventsQuery.static) => {
  const { actor } = ctxOf(request);
  const { project, kind, actor: who } = query;
  if (project !== undefined && project !== '*') requireProject(actor, project);
  const now = clock.now();
  const time = (name: 'since' | 'until'): number | undefined =>
    query[name] === undefined ? undefined : parseSince(query[name], now, name);
  const page = pageOf(query);
  const filter = { project, kind, actor: who, since: time('since'), until: time('until') };
  return listReply('events', events.list(ctxOf(request), filter, page), (event) => String(event.seq), page);
};

export const eventsRoutes = (deps: EventRoutesDeps) =>
  new Elysia()
    .get('/v1/events', ({ request, query }) => listEvents(deps, request, query), {
      query: ListEventsQuery,
      response: { 200: listOf('events', EventSchema) },
      ...route({
        operationId: 'listEvents',
        capability: 'read',
        tag: 'events',
        summary: 'List what happened, and who caused it, in all projects in scope, newest first',
        description:
          'Admins of all projects see what concerns the server itself too, such as tokens and sessions: the audit.',
        errors: ['NOT_FOUND'],
      }),
    })
    .get(
      '/v1/projects/:project/events',
      ({ request, params, query }) => streamEvents(deps, request, { ...query, project: params.project }),
      {
        params: Type.Object({ project: Name }),
        query: EventsQuery,
        ...route({
          operationId: 'streamEvents',
          capability: 'read',
          tag: 'events',
          summary: 'Follow what happens in a project',
          description:
            'Each event has its kind as `event`, its `seq` as `id`. Replays the newest 50 first (`tail`, `since`), or all after `Last-Event-ID`.',
          errors: ['NOT_FOUND'],
          stream: true,
        }),
      },
    );

type StreamRequest = typeof EventsQuery.static & { project: string };

const streamEvents = (deps: EventRoutesDeps, request: Request, wanted: StreamRequest): Response => {
  requireProject(ctxOf(request).actor, wanted.project);
  deps.requireExists(wanted.project);
  const { events } = deps;
  const { project } = wanted;
  const after = startOf(deps, request, wanted);
  const replay = replayThenFollow<Event>({
    after,
    read: (seq) => events.after(project, seq, PAGE),
    subscribe: (listener) => {
      let seen = Math.max(after, events.startOf(project, { tail: 0 }));
      return events.subscribe(project, () => {
        for (let page = events.after(project, seen, PAGE); page.length > 0; page = events.after(project, seen, PAGE)) {
          seen = page.at(-1)?.seq ?? seen;
          for (const event of page) listener(event);
        }
      });
    },
    encode: (event) => encodeFrame({ id: event.seq, event: event.kind, data: event }),
  });
  return sseResponse({
    request,
    start: async (reader) => {
      const stop = await replay(reader);
      if (wanted.follow === false) reader.end();
      return stop;
    },
  });
};

const startOf = ({ events, clock }: EventRoutesDeps, request: Request, wanted: StreamRequest): number => {
  if (lastEventId(request) !== undefined) return lastEventSeq(request);
  if (wanted.since !== undefined)
    return events.startOf(wanted.project, { since: parseSince(wanted.since, clock.now()) });
  return events.startOf(wanted.project, { tail: wanted.tail ?? DEFAULT_TAIL });
};
