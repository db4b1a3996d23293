import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { parseDuration } from '../output/format.ts';
import { inert } from '../output/style.ts';

export const logs = defineCommand({
  name: 'logs',
  summary: 'Show what the replicas of a service wrote, dead ones too',
  examples: [
    { line: 'berth logs -f', says: 'follow, from the last lines on' },
    { line: 'berth logs --since 10m --tail 1000', says: 'the last ten minutes' },
    {
      line: 'berth logs --json | jq -r \'select(.stream == "stderr").line\'',
      says: 'one object a line for other programs',
    },
  ],
  scope: 'service',
  operations: ['streamLogs'],
  args: {},
  flags: {
    follow: { type: 'boolean', short: 'f', summary: 'go on until Ctrl-C' },
    tail: {
      type: 'number',
      short: 'n',
      value: 'N',
      integer: true,
      min: 0,
      summary: 'begin with the last N lines (default 100)',
    },
    since: { type: 'string', value: 'WHEN', summary: 'begin at a time ago (10m, 2h) or a time (2026-11-21T10:00:00Z)' },
    replica: { type: 'string', value: 'NAME', summary: 'only this replica' },
    release: { type: 'string', value: 'ID', summary: 'only replicas of this release' },
    timestamps: { type: 'boolean', short: 't', summary: 'show the time of each line' },
  },
  run: async (context, { flags }) => {
    const { project, service } = await context.target();
    const { out } = context;
    const since = flags.since === undefined ? undefined : sinceTime(flags.since, Date.now());
    const tail = flags.tail ?? (since === undefined ? 100 : undefined);
    const stream = (await context.api()).followLogs(project, service, {
      query: { follow: flags.follow, tail, since, replica: flags.replica, release: flags.release },
      startOnly: ['tail'],
      endless: flags.follow,
      onReconnect: (cause) => out.note(out.noteStyle.dim(`${cause}; resuming the stream`)),
    });
    for await (const { event, data } of stream) {
      if (event !== 'log') continue;
      const time = flags.timestamps ? `${out.style.dim(data.ts)} ` : '';
      const name = flags.replica === undefined ? `${out.style.cyan(data.replica)} ` : '';
      if (out.json) out.jsonLine(data);
      else out.raw(`${time}${name}${inert(data.line, out.style.enabled)}`);
    }
  },
});

/** `10m` or a time, as RFC 3339. */
export const sinceTime = (text: string, now: number): string => {
  const ago = parseDuration(text);
  const time = ago === undefined ? Date.parse(text) : now - ago;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw usageError(`--since "${text}" is neither a time ago nor a time`, 'write 10m, 2h, or 2026-11-21T10:00:00Z');
};
