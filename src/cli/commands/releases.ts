import { readPages } from '../client/pages.ts';
import { defineCommand, defineGroup } from '../command.ts';
import { age, bytes } from '../output/format.ts';
import { PAGING } from './flags.ts';

const ls = defineCommand({
  name: 'ls',
  summary: 'List the releases of a service that can be rolled back to',
  examples: [{ line: 'berth releases ls -s web', says: 'newest first; the live one is marked' }],
  scope: 'service',
  operations: ['listReleases'],
  args: {},
  flags: PAGING,
  run: async (context, { flags }) => {
    const { project, service } = await context.target();
    const api = await context.api();
    const reply = await readPages(flags, ['releases'], (page) => api.listReleases(project, service, page));
    context.out.list(reply, reply.releases, {
      columns: [
        { title: '', value: (row) => (row.live ? '*' : ' ') },
        { title: 'RELEASE', value: (row) => row.id },
        { title: 'AGE', value: (row) => age(row.created_at, Date.now()) },
        { title: 'BUILT BY', value: (row) => row.provider },
        { title: 'SIZE', value: (row) => bytes(row.size_bytes), align: 'right' },
        { title: 'COMMIT', value: (row) => row.commit?.slice(0, 12) },
        { title: 'BY', value: (row) => row.created_by, flexible: true },
      ],
      empty: 'no release yet: berth deploy',
    });
  },
});

const compare = defineCommand({
  name: 'compare',
  summary: 'Show what differs between the live release and another one',
  examples: [
    { line: 'berth releases compare rel_3f2a9c01b7de', says: 'what a rollback to it would change' },
    { line: 'berth releases compare rel_3f2a9c01b7de rel_9c01b7de3f2a', says: 'between two others' },
  ],
  scope: 'service',
  operations: ['compareReleases'],
  args: {
    release: { summary: 'the release' },
    with: { summary: 'the one to compare it with (default: the live one)', optional: true },
  },
  flags: {},
  run: async (context, { args }) => {
    const { project, service } = await context.target();
    const reply = await (await context.api()).compareReleases(project, service, args.release, args.with);
    const rows = [
      ...reply.changes,
      ...(reply.env?.added ?? []).map((name) => ({ what: `env ${name}`, from: null, to: 'set' })),
      ...(reply.env?.removed ?? []).map((name) => ({ what: `env ${name}`, from: 'set', to: null })),
    ];
    context.out.list(reply, rows, {
      columns: [
        { title: 'WHAT', value: (row) => row.what },
        { title: reply.from.id, value: (row) => shown(row.from), flexible: true },
        { title: reply.to.id, value: (row) => shown(row.to), flexible: true },
      ],
      empty: 'nothing differs',
    });
  },
});

const shown = (value: unknown): string =>
  value === null ? '-' : typeof value === 'string' ? value : JSON.stringify(value);

export const releases = defineGroup({
  name: 'releases',
  summary: 'Releases of a service: list and compare',
  commands: [ls, compare],
  fallback: 'ls',
});
