import { Type } from '@sinclair/typebox';
import { LogLineSchema, type LogLine } from '#modules/logs';
import { lastThatFit } from '../bounds.ts';
import { defineTool, PROJECT, SERVICE } from '../tool.ts';

const TAIL = 100;

export const logs = defineTool({
  name: 'service_logs',
  title: 'Read the log of a service',
  description:
    'The last lines that the replicas of a service wrote to stdout and stderr, dead replicas included. Use it when the app answers wrongly or crashes; for the log of a build see service_operation with log_lines.',
  operationId: 'streamLogs',
  capability: 'read',
  hints: { readOnly: true, idempotent: true },
  input: {
    project: PROJECT,
    service: SERVICE,
    tail: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: `so many lines; ${TAIL} when omitted` }),
    ),
    since: Type.Optional(
      Type.String({ description: 'only lines from this time on: RFC 3339, or a time ago such as 10m' }),
    ),
    replica: Type.Optional(Type.String({ maxLength: 200, description: 'only this replica, by name' })),
    release: Type.Optional(Type.String({ maxLength: 100, description: 'only replicas of this release' })),
  },
  output: Type.Object({
    lines: Type.Array(LogLineSchema),
    shortened: Type.Boolean({ description: 'older lines were left out, because there were too many' }),
  }),
  run: async ({ api }, { project, service, tail = TAIL, ...filter }) => {
    const read: LogLine[] = [];
    for await (const { event, data } of api.followLogs(project, service, { query: { ...filter, tail, follow: false } }))
      if (event === 'log') read.push(data);
    const lines = lastThatFit(read);
    const text = lines.map(({ ts, replica, stream, line }) => `${ts} ${replica} ${stream} ${line}`).join('\n');
    return { data: { lines, shortened: lines.length < read.length }, text: text === '' ? 'no lines' : text };
  },
});
