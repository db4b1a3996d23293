import { defineCommand } from '../command.ts';
import { inert } from '../output/style.ts';
import { aboutEvent } from './status.ts';

export const events = defineCommand({
  name: 'events',
  summary: 'Show what happened in a project, by whom',
  examples: [
    { line: 'berth events -f', says: 'follow, until Ctrl-C' },
    { line: 'berth events -p shop --json', says: 'one object a line' },
  ],
  scope: 'project',
  args: {},
  flags: { follow: { type: 'boolean', short: 'f', summary: 'go on until Ctrl-C' } },
  run: async (context, { flags }) => {
    const { out } = context;
    const stream = (await context.api()).followEvents(await context.project(), {
      query: { follow: flags.follow },
      endless: flags.follow,
      onReconnect: (cause) => out.note(out.noteStyle.dim(`${cause}; resuming the stream`)),
    });
    for await (const { data } of stream) {
      if (out.json) out.jsonLine(data);
      else out.raw(inert(`${data.ts}  ${data.kind.padEnd(24)} ${data.actor}  ${aboutEvent(data.data)}`, false));
    }
  },
});
