import { readPages } from '../client/pages.ts';
import { defineCommand, defineGroup } from '../command.ts';
import { age } from '../output/format.ts';
import { DRY_RUN, PAGING, YES } from './flags.ts';

const ls = defineCommand({
  name: 'ls',
  summary: 'List the browsers that are signed in with this token, newest first',
  examples: [{ line: 'berth sessions ls', says: 'who uses the dashboard with it?' }],
  scope: 'server',
  operations: ['listSessions'],
  args: {},
  flags: PAGING,
  run: async (context, { flags }) => {
    const api = await context.api();
    const reply = await readPages(flags, ['sessions'], (page) => api.listSessions(page));
    const now = Date.now();
    context.out.list(reply, reply.sessions, {
      columns: [
        { title: 'SESSION', value: (row) => row.id },
        { title: 'SINCE', value: (row) => age(row.created_at, now) },
        { title: 'LAST USED', value: (row) => age(row.last_used_at, now) },
        { title: 'EXPIRES', value: (row) => row.expires_at.slice(0, 16) },
      ],
      empty: 'no browser is signed in with this token',
    });
  },
});

const end = defineCommand({
  name: 'end',
  summary: 'Sign out all browsers that are signed in with this token; the token stays valid',
  examples: [{ line: 'berth sessions end --yes', says: 'such as when a laptop is lost' }],
  scope: 'server',
  operations: ['endSessions'],
  args: {},
  flags: { ...YES, ...DRY_RUN },
  run: async (context, { flags }) => {
    await context.confirm('This signs out every browser that is signed in with this token', 'all', flags.yes);
    const reply = await (await context.api()).endSessions();
    context.out.data(reply, () => 'all browsers are signed out');
  },
});

export const sessions = defineGroup({
  name: 'sessions',
  summary: 'Browsers that are signed in to the dashboard with this token',
  commands: [ls, end],
  fallback: 'ls',
});
