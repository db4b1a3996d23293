import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { factLines } from '../output/facts.ts';
import { bytes } from '../output/format.ts';

export const capacity = defineCommand({
  name: 'capacity',
  summary: 'Show what the server has and uses (administrators)',
  examples: [
    { line: 'berth capacity', says: 'memory, CPU, disk, apps' },
    { line: 'berth capacity --by-project', says: 'which project takes the disk' },
  ],
  scope: 'server',
  operations: ['clusterCapacity', 'diskByProject'],
  args: {},
  flags: { 'by-project': { type: 'boolean', summary: 'what each project has on disk' } },
  run: async (context, { flags }) => {
    if (flags['by-project']) return byProject(context);
    const reply = await (await context.api()).capacity();
    context.out.data(reply, () => factLines(reply).join('\n'));
  },
});

const byProject = async (context: Context): Promise<void> => {
  const reply = await (await context.api()).disk();
  context.out.list(reply, reply.projects, {
    columns: [
      { title: 'PROJECT', value: (row) => row.project },
      { title: 'ALL', value: (row) => bytes(row.total_bytes), align: 'right' },
      { title: 'IMAGES', value: (row) => bytes(row.image_bytes), align: 'right' },
      { title: 'BUILD CACHE', value: (row) => bytes(row.build_cache_bytes), align: 'right' },
      { title: 'LOGS', value: (row) => bytes(row.log_bytes), align: 'right' },
      { title: 'DATASTORES', value: (row) => bytes(row.datastore_bytes), align: 'right' },
      { title: 'BACKUPS', value: (row) => bytes(row.backup_bytes), align: 'right' },
      { title: 'REPOS', value: (row) => bytes(row.repo_bytes), align: 'right' },
    ],
    empty: 'no project yet',
  });
};
