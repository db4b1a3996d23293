import { readPages } from '../client/pages.ts';
import { defineCommand } from '../command.ts';
import { saveBody } from '../save.ts';
import { inert } from '../output/style.ts';
import { PAGING } from './flags.ts';
import { sinceTime } from './logs.ts';

export const search = defineCommand({
  name: 'search',
  summary: 'Search the stored log of a service, newest lines first',
  examples: [
    { line: 'berth search timeout --since 1d', says: 'lines of a day that contain it, in whatever case' },
    { line: 'berth search --output web.log', says: 'the whole log as a file' },
  ],
  scope: 'service',
  operations: ['searchLogs', 'downloadLogs'],
  args: { text: { summary: 'what the lines contain (default: all)', optional: true } },
  flags: {
    ...PAGING,
    replica: { type: 'string', value: 'NAME', summary: 'only this replica' },
    since: { type: 'string', value: 'WHEN', summary: 'begin at a time ago (10m, 2h) or a time' },
    until: { type: 'string', value: 'WHEN', summary: 'end at a time ago or a time' },
    output: { type: 'string', short: 'o', value: 'FILE', complete: 'file', summary: 'write the lines to a file' },
  },
  run: async (context, { args, flags }) => {
    const { project, service } = await context.target();
    const api = await context.api();
    const time = (text: string | undefined): string | undefined =>
      text === undefined ? undefined : sinceTime(text, Date.now());
    const query = { text: args.text, replica: flags.replica, since: time(flags.since), until: time(flags.until) };
    if (flags.output !== undefined) {
      await saveBody(context, await api.downloadLogs(project, service, query), context.path(flags.output));
      context.out.note(`saved ${flags.output}`);
      return;
    }
    const reply = await readPages(flags, ['lines'], (page) => api.searchLogs(project, service, { ...query, ...page }));
    if (context.out.json) context.out.data(reply, () => '');
    else
      for (const { ts, replica, line } of reply.lines)
        context.out.raw(inert(`${ts.slice(0, 19)} ${replica}  ${line}`, false));
  },
});
