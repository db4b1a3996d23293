import { readPages } from '../client/pages.ts';
import { defineCommand } from '../command.ts';
import { age, bytes } from '../output/format.ts';
import { PAGING } from './flags.ts';

export const releases = defineCommand({
  name: 'releases',
  summary: 'List the releases of a service that can be rolled back to',
  examples: [{ line: 'berth releases -s web', says: 'newest first; the live one is marked' }],
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
