import { defineCommand } from '../command.ts';
import { factLines } from '../output/facts.ts';

export const capacity = defineCommand({
  name: 'capacity',
  summary: 'Show what the server has and uses (administrators)',
  examples: [{ line: 'berth capacity', says: 'memory, CPU, disk, apps' }],
  scope: 'server',
  operations: ['clusterCapacity'],
  args: {},
  flags: {},
  run: async (context) => {
    const reply = await (await context.api()).capacity();
    context.out.data(reply, () => factLines(reply).join('\n'));
  },
});
