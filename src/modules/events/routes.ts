import { Type } from '@sinclair/typebox';
import { Elysia, t } from 'elysia';
import { ctxOf } from '#http/context';
import { route } from '#http/route';
import { encodeFrame, lastEventId, lastEventSeq, replayThenFollow, sseResponse } from '#http/sse';
import type { Clock } from '#kernel/clock';
import { Name } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import { parseSince } from '#kernel/since';
import type { Event } from './model.ts';
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

export const eventsRoutes = (deps: EventRoutesDeps) =>
  new Elysia().get(
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
