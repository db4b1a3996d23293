import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ctxOf } from '#http/context';
import { listParams, listReply, pageOf } from '#http/list';
import { route } from '#http/route';
import { invalidInput } from '#kernel/errors';
import { listOf, Name, oneOf } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import { parseSince } from '#kernel/since';
import { plainText } from '#kernel/terminal';
import { LogLineSchema } from './model.ts';
import type { LogRoutesDeps } from './routes.ts';
import { matchingLines, searchLines, type LogQuery } from './search.ts';
import type { LogReader } from './service.ts';

const filters = {
  text: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'what the line contains, in whatever case' }),
  ),
  replica: Type.Optional(Type.String({ maxLength: 200, description: 'only this replica, by name' })),
  release: Type.Optional(Type.String({ maxLength: 100, description: 'only replicas of this release' })),
  stream: Type.Optional(oneOf(['stdout', 'stderr'] as const)),
  since: Type.Optional(Type.String({ description: 'from this time on: RFC 3339, or a duration such as `2h`' })),
  until: Type.Optional(Type.String({ description: 'before this time: RFC 3339, or a duration' })),
};

const SearchQuery = Type.Object({
  ...listParams,
  ...filters,
  order: Type.Optional(
    oneOf(['newest', 'oldest'] as const, { description: 'which lines come first; newest when omitted' }),
  ),
});

const DownloadQuery = Type.Object(filters);
const ServicePath = Type.Object({ project: Name, service: Name });
const FoundLineSchema = Type.Composite([Type.Object({ seq: Type.Integer() }), LogLineSchema]);

export const logSearchRoutes = (deps: LogRoutesDeps) =>
  new Elysia()
    .get(
      '/v1/projects/:project/services/:service/logs/search',
      ({ request, params, query }) => search(deps, request, { ...params, query }),
      {
        params: ServicePath,
        query: SearchQuery,
        response: { 200: listOf('lines', FoundLineSchema) },
        ...route({
          operationId: 'searchLogs',
          capability: 'read',
          tag: 'logs',
          summary: 'Search the stored log of a service, or go to a time in it',
          description:
            'With `since` and `order=oldest` it reads on from a time. `seq` of a line is where the live stream goes on after.',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .get(
      '/v1/projects/:project/services/:service/logs/download',
      ({ request, params, query }) => download(deps, request, { ...params, query }),
      {
        params: ServicePath,
        query: DownloadQuery,
        ...route({
          operationId: 'downloadLogs',
          capability: 'read',
          tag: 'logs',
          summary: 'Download the stored log of a service as plain text, or the lines that match',
          errors: ['NOT_FOUND'],
        }),
      },
    );

interface Asked<Q> {
  project: string;
  service: string;
  query: Q;
}

const readFrom = (
  deps: LogRoutesDeps,
  request: Request,
  { project, service, query }: Asked<typeof DownloadQuery.static>,
  after?: number,
): { source: LogReader; filter: LogQuery } => {
  requireProject(ctxOf(request).actor, project);
  deps.requireService(project, service);
  const now = deps.clock.now();
  const time = (name: 'since' | 'until'): number | undefined =>
    query[name] === undefined ? undefined : parseSince(query[name], now, name);
  const { text, replica, release, stream } = query;
  const since = time('since');
  const filter: LogQuery = { text, replica, release, stream, since, until: time('until') };
  const from = after === undefined ? { lines: Number.POSITIVE_INFINITY, since } : { after, filter: {} };
  return { source: deps.logs.read(project, service, from), filter };
};

const search = async (deps: LogRoutesDeps, request: Request, asked: Asked<typeof SearchQuery.static>) => {
  const page = pageOf(asked.query);
  const order = asked.query.order ?? 'newest';
  const after = page.after === undefined ? undefined : Number(page.after);
  if (after !== undefined && !Number.isSafeInteger(after))
    throw invalidInput(
      'query.cursor is not one that this API gave out',
      'pass next_cursor of the page before, unchanged, or omit it',
    );
  const { source, filter } = readFrom(deps, request, asked, order === 'oldest' ? after : undefined);
  try {
    const lines = await searchLines(source, filter, { limit: page.limit, order, after });
    return listReply('lines', lines, (line) => String(line.seq), page);
  } finally {
    source.leave();
  }
};

const encoder = new TextEncoder();

const download = (deps: LogRoutesDeps, request: Request, asked: Asked<typeof DownloadQuery.static>): Response => {
  const { source, filter } = readFrom(deps, request, asked);
  const pages = matchingLines(source, filter);
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      for (;;) {
        const { done, value } = await pages.next();
        if (done === true) {
          source.leave();
          controller.close();
          return;
        }
        if (value.length === 0) continue;
        const text = value
          .map(({ ts, replica, stream, line }) => `${ts} ${replica} ${stream} ${plainText(line)}\n`)
          .join('');
        controller.enqueue(encoder.encode(text));
        return;
      }
    },
    cancel: () => source.leave(),
  });
  const name = `${asked.project}-${asked.service}.log`;
  return new Response(body, {
    headers: { 'content-type': 'text/plain; charset=utf-8', 'content-disposition': `attachment; filename="${name}"` },
  });
};
