import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ctxOf } from '#http/context';
import { route } from '#http/route';
import { lastEventId, sseResponse } from '#http/sse';
import type { Live } from './service.ts';
import { readTopics } from './topics.ts';

const LiveQuery = Type.Object({
  topics: Type.String({
    minLength: 1,
    maxLength: 8000,
    description:
      'names with commas between: `projects`, `operations`, `admin`, `project:<project>`, `events:<project>`, `operation:<id>`, `logs:<project>/<service>`, `usage:<project>/<service>`; `<topic>@<cursor>` goes on after a cursor',
    examples: ['projects,operations'],
  }),
});

export const liveRoutes = ({ live }: { live: Live }) =>
  new Elysia().get(
    '/v1/live',
    ({ request, query }) => {
      const topics = readTopics(query.topics, lastEventId(request));
      const ctx = ctxOf(request);
      return sseResponse({ request, start: (reader) => live.open(ctx, reader, topics) });
    },
    {
      query: LiveQuery,
      ...route({
        operationId: 'streamLive',
        capability: 'any',
        tag: 'live',
        summary: 'Follow several things in one stream: projects, operations, logs, usage',
        description:
          'Each event’s data has its `kind`, its `topic`, and the `cursor` that the topic goes on after (null for states, which are sent whole). To go on after a loss, or with other topics, open it anew with the last cursor of each. A topic that is missing or not allowed is a `problem` with the error; the others go on. Kinds: `project`, `gone`, `ready`, `state`, `event`, `operation`, `lines`, `phase`, `done`, `usage`, `capacity`, `problem`.',
        stream: true,
      }),
    },
  );
