import { readPages } from '../client/pages.ts';
import { defineCommand } from '../command.ts';
import { PAGING } from './flags.ts';
import { sinceTime } from './logs.ts';
import { aboutEvent } from './status.ts';

export const audit = defineCommand({
  name: 'audit',
  summary: 'List what happened in all your projects, and who caused it',
  details: ['Administrators of all projects see tokens and sign-ins too; --in "*" shows these alone.'],
  examples: [
    { line: 'berth audit --kind deploy --since 1d', says: 'the deploys of a day' },
    { line: 'berth audit --actor ci@shop --in shop', says: 'what one principal did in a project' },
  ],
  scope: 'server',
  operations: ['listEvents'],
  args: {},
  flags: {
    ...PAGING,
    in: { type: 'string', value: 'PROJECT', summary: 'only this project; * for the server itself' },
    kind: { type: 'string', value: 'KIND', summary: 'only this kind (deploy.failed), or kinds of this group (deploy)' },
    actor: { type: 'string', value: 'PRINCIPAL', summary: 'only what this principal caused' },
    since: { type: 'string', value: 'WHEN', summary: 'begin at a time ago (2h, 7d) or a time' },
    until: { type: 'string', value: 'WHEN', summary: 'end at a time ago or a time' },
  },
  run: async (context, { flags }) => {
    const api = await context.api();
    const time = (text: string | undefined): string | undefined =>
      text === undefined ? undefined : sinceTime(text, Date.now());
    const filter = {
      project: flags.in,
      kind: flags.kind,
      actor: flags.actor,
      since: time(flags.since),
      until: time(flags.until),
    };
    const reply = await readPages(flags, ['events'], (page) => api.listEvents({ ...filter, ...page }));
    context.out.list(reply, reply.events, {
      columns: [
        { title: 'TIME', value: (row) => row.ts.slice(0, 19).replace('T', ' ') },
        { title: 'PROJECT', value: (row) => row.project },
        { title: 'KIND', value: (row) => row.kind },
        { title: 'BY', value: (row) => row.actor, flexible: true },
        { title: 'WHAT', value: (row) => aboutEvent(row.data), flexible: true },
      ],
      empty: 'nothing like that happened',
    });
  },
});
