import type { LiveEvent } from '#modules/live';
import { defineCommand } from '../command.ts';
import { inert } from '../output/style.ts';

export const watch = defineCommand({
  name: 'watch',
  summary: 'Follow several things at once: projects, operations, logs',
  details: [
    'Topics: projects, operations, admin, project:<project>, events:<project>, operation:<id>, logs:<project>/<service>, usage:<project>/<service>.',
  ],
  examples: [
    { line: 'berth watch', says: 'projects and operations as they change, until Ctrl-C' },
    { line: 'berth watch logs:shop/web logs:shop/worker --json', says: 'two logs in one stream, an object a line' },
  ],
  scope: 'server',
  operations: ['streamLive'],
  args: { topics: { summary: 'what to follow (default: projects operations)', variadic: true, optional: true } },
  flags: {},
  run: async (context, { args }) => {
    const { out } = context;
    const topics = args.topics.length === 0 ? ['projects', 'operations'] : args.topics;
    const stream = (await context.api()).followLive({
      query: { topics: topics.join(',') },
      endless: true,
      onReconnect: (cause) => out.note(out.noteStyle.dim(`${cause}; resuming the stream`)),
    });
    for await (const { data } of stream) {
      if (out.json) out.jsonLine(data);
      else for (const line of linesOf(data)) out.raw(inert(`${data.topic}  ${line}`, false));
    }
  },
});

const services = (of: { services: readonly { name: string; status: string }[] }): string =>
  of.services.map(({ name, status }) => `${name} ${status}`).join(', ');

const LINES: { [K in LiveEvent['kind']]: (event: Extract<LiveEvent, { kind: K }>) => string[] } = {
  project: ({ project }) => [`${project.name}  ${services(project)}`],
  state: ({ state }) => [services(state)],
  gone: ({ name }) => [`${name} is gone`],
  ready: () => [],
  event: ({ event }) => [`${event.kind}  ${event.actor}`],
  operation: ({ operation: { operation_id: id, kind, phase } }) => [`${id}  ${kind}  ${phase}`],
  lines: ({ lines }) => lines.map(({ line }) => line),
  phase: ({ phase }) => [`${phase.phase}  ${phase.message}`],
  done: ({ done }) => [done.status],
  usage: ({ point }) => [`${point.requests_per_second}/s  p95 ${point.p95_ms ?? '-'} ms  CPU ${point.cpu ?? '-'}`],
  capacity: ({ capacity }) => [`${capacity.services} services, ${capacity.replicas} replicas`],
  problem: ({ error }) => [`${error.code}: ${error.message}`],
};

/** The kind of an event chooses what takes it. */
const linesOf = (event: LiveEvent): string[] => (LINES[event.kind] as (event: LiveEvent) => string[])(event);
