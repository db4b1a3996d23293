import { defineCommand } from '../command.ts';
import { bytes } from '../output/format.ts';

/** What fits on a screen. */
const POINTS = 12;

export const usage = defineCommand({
  name: 'usage',
  summary: 'Show requests, latency, errors, CPU, memory and restarts of a service over time',
  examples: [
    { line: 'berth usage', says: 'the last hour' },
    { line: 'berth usage --since 7d --points 7', says: 'the last week, a line a day' },
  ],
  scope: 'service',
  operations: ['getUsage'],
  args: {},
  flags: {
    since: { type: 'string', value: 'WHEN', summary: 'begin at a time ago (6h, 7d) or a time (default 1h)' },
    points: { type: 'number', value: 'N', integer: true, min: 1, summary: `at most so many lines (default ${POINTS})` },
  },
  run: async (context, { flags }) => {
    const { project, service } = await context.target();
    const reply = await (
      await context.api()
    ).getUsage(project, service, {
      ...(flags.since === undefined ? {} : { from: flags.since }),
      points: flags.points ?? POINTS,
    });
    context.out.list(reply, reply.points, {
      columns: [
        { title: 'FROM', value: (point) => point.ts.slice(0, 16).replace('T', ' ') },
        { title: 'REQ/S', value: (point) => String(point.requests_per_second), align: 'right' },
        { title: 'P50 MS', value: (point) => figure(point.p50_ms), align: 'right' },
        { title: 'P95 MS', value: (point) => figure(point.p95_ms), align: 'right' },
        {
          title: '5XX',
          value: (point) => (point.error_rate === null ? '-' : `${(point.error_rate * 100).toFixed(1)}%`),
          align: 'right',
        },
        { title: 'CPU', value: (point) => figure(point.cpu), align: 'right' },
        {
          title: 'MEMORY',
          value: (point) => (point.memory_bytes === null ? '-' : bytes(point.memory_bytes)),
          align: 'right',
        },
        { title: 'REPLICAS', value: (point) => String(point.replicas), align: 'right' },
        { title: 'RESTARTS', value: (point) => String(point.restarts), align: 'right' },
      ],
      empty: 'nothing was measured in this time',
    });
  },
});

const figure = (value: number | null): string => (value === null ? '-' : String(Math.round(value * 100) / 100));
