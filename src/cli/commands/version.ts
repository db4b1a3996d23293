import { defineCommand } from '../command.ts';
import { VERSION } from '../version.ts';

export const version = defineCommand({
  name: 'version',
  summary: 'Show the version of this executable',
  examples: [{ line: 'berth version', says: 'also: berth --version' }],
  scope: 'none',
  args: {},
  flags: {},
  run: async (context) => {
    const facts = { version: VERSION, runtime: `bun ${Bun.version}`, platform: `${process.platform}-${process.arch}` };
    context.out.data(facts, () => `berth ${facts.version} (${facts.runtime}, ${facts.platform})`);
  },
});
