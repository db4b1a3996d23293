import type { Operation } from '#modules/operations';
import { readPages } from '../client/pages.ts';
import { defineCommand, defineGroup } from '../command.ts';
import { followOperation } from '../follow.ts';
import { age, duration } from '../output/format.ts';
import { DRY_RUN, PAGING } from './flags.ts';

const ID = { id: { summary: 'id of the operation (op_…)' } } as const;

const ls = defineCommand({
  name: 'ls',
  summary: 'List operations, newest first',
  examples: [
    { line: 'berth operations ls', says: 'all that the token can see' },
    { line: 'berth operations ls -p shop --status running', says: 'what runs in one project' },
  ],
  scope: 'service',
  operations: ['listOperations'],
  args: {},
  flags: {
    ...PAGING,
    status: {
      type: 'string',
      value: 'STATUS',
      choices: ['queued', 'running', 'succeeded', 'failed'],
      summary: 'only those',
    },
  },
  run: async (context, { flags: { status, ...paging } }) => {
    const { project, service } = context.given;
    const api = await context.api();
    const reply = await readPages(paging, ['operations'], (page) =>
      api.listOperations({ ...page, status, project, service }),
    );
    context.out.list(reply, reply.operations, {
      columns: [
        { title: 'OPERATION', value: (row) => row.operation_id },
        { title: 'KIND', value: (row) => row.kind },
        {
          title: 'TARGET',
          value: (row) => [row.project, row.service ?? row.datastore].filter((part) => part !== null).join('/'),
          flexible: true,
        },
        { title: 'STATUS', value: (row) => row.status },
        { title: 'PHASE', value: (row) => row.phase },
        { title: 'AGE', value: (row) => age(row.created_at, Date.now()) },
        { title: 'TOOK', value: took, align: 'right' },
      ],
      empty: 'no operation',
    });
  },
});

const took = (row: Operation): string | null =>
  row.started_at === null || row.finished_at === null
    ? null
    : duration(Date.parse(row.finished_at) - Date.parse(row.started_at));

const info = defineCommand({
  name: 'info',
  summary: 'Show one operation with its result or error',
  examples: [{ line: 'berth operations info op_01jd3kq2m5abcdefghjk', says: 'why did it fail?' }],
  scope: 'server',
  operations: ['getOperation'],
  args: ID,
  flags: {},
  run: async (context, { args }) => {
    const row = await (await context.api()).getOperation(args.id);
    context.out.data(row, () =>
      Object.entries(row)
        .filter(([, value]) => value !== null)
        .map(
          ([name, value]) => `${name.padEnd(13)} ${typeof value === 'object' ? JSON.stringify(value, null, 2) : value}`,
        )
        .join('\n'),
    );
  },
});

const follow = defineCommand({
  name: 'follow',
  summary: 'Follow an operation from its beginning to its end; exits 1 when it failed',
  examples: [{ line: 'berth operations follow op_01jd3kq2m5abcdefghjk', says: 'phases and build log' }],
  scope: 'server',
  operations: ['streamOperation'],
  args: ID,
  flags: {},
  run: async (context, { args }) => {
    const row = await followOperation(context, args.id, { logs: true });
    if (!context.out.json) context.out.raw(row.service_url ?? row.operation_id);
  },
});

const cancel = defineCommand({
  name: 'cancel',
  summary: 'Cancel an operation; a build is killed',
  examples: [{ line: 'berth operations cancel op_01jd3kq2m5abcdefghjk', says: 'stop a deploy' }],
  scope: 'server',
  operations: ['cancelOperation'],
  args: ID,
  flags: DRY_RUN,
  run: async (context, { args }) => {
    const row = await (await context.api()).cancelOperation(args.id);
    context.out.data(row, () => `${args.id} is asked to stop; watch it end: berth operations follow ${args.id}`);
  },
});

export const operations = defineGroup({
  name: 'operations',
  summary: 'List, follow and cancel deploys and other long operations',
  commands: [ls, info, follow, cancel],
  fallback: 'ls',
});
