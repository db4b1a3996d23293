import { defineCommand } from '../command.ts';
import { inert } from '../output/style.ts';
import { sinceTime } from './logs.ts';
import { aboutEvent } from './status.ts';

export const events = defineCommand({
  name: 'events',
  summary: 'Show what happened in a project, by whom',
  examples: [
    { line: 'berth events -f', says: 'follow, until Ctrl-C' },
    { line: 'berth events -p shop --json', says: 'one object a line' },
  ],
  scope: 'project',
  operations: ['streamEvents'],
  args: {},
  flags: {
    follow: { type: 'boolean', short: 'f', summary: 'go on until Ctrl-C' },
    tail: {
      type: 'number',
      short: 'n',
      value: 'N',
      integer: true,
      min: 0,
      summary: 'begin with the last N events (default 50)',
    },
    since: { type: 'string', value: 'WHEN', summary: 'begin at a time ago (10m, 2h) or a time (2026-11-21T10:00:00Z)' },
  },
  run: async (context, { flags }) => {
    const { out } = context;
    const stream = (await context.api()).followEvents(await context.project(), {
      query: {
        follow: flags.follow,
        tail: flags.tail,
        since: flags.since === undefined ? undefined : sinceTime(flags.since, Date.now()),
      },
      startOnly: ['tail'],
      endless: flags.follow,
      onReconnect: (cause) => out.note(out.noteStyle.dim(`${cause}; resuming the stream`)),
    });
    for await (const { data } of stream) {
      if (out.json) out.jsonLine(data);
      else out.raw(inert(`${data.ts}  ${data.kind.padEnd(24)} ${data.actor}  ${aboutEvent(data.data)}`, false));
    }
  },
});
