import { readPages } from '../client/pages.ts';
import { defineCommand, defineGroup } from '../command.ts';
import { settleReply } from '../follow.ts';
import { age } from '../output/format.ts';
import { DETACH, DRY_RUN, PAGING, YES } from './flags.ts';

const ls = defineCommand({
  name: 'ls',
  summary: 'List the projects that the token can see',
  examples: [{ line: 'berth projects ls', says: 'all projects' }],
  scope: 'server',
  operations: ['listProjects'],
  args: {},
  flags: PAGING,
  run: async (context, { flags }) => {
    const api = await context.api();
    const reply = await readPages(flags, ['projects'], (page) => api.listProjects(page));
    context.out.list(reply, reply.projects, {
      columns: [
        { title: 'PROJECT', value: (row) => row.name },
        { title: 'STATE', value: (row) => row.state },
        { title: 'AGE', value: (row) => age(row.created_at, Date.now()) },
        { title: 'BY', value: (row) => row.created_by, flexible: true },
      ],
      empty: 'no project yet: berth projects create <name>',
    });
  },
});

const create = defineCommand({
  name: 'create',
  summary: 'Create a project; one that exists is no error',
  examples: [{ line: 'berth projects create shop', says: 'a project named shop' }],
  scope: 'server',
  operations: ['createProject'],
  args: { name: { summary: 'name of the project' } },
  flags: DRY_RUN,
  run: async (context, { args }) => {
    const reply = await (await context.api()).createProject(args.name);
    context.out.data(reply, () => `${reply.name} ${reply.created ? 'is created' : 'exists already'}`);
  },
});

const remove = defineCommand({
  name: 'delete',
  summary: 'Delete a project with all that is in it',
  examples: [{ line: 'berth projects delete shop', says: 'asks for the name as confirmation' }],
  scope: 'server',
  operations: ['deleteProject'],
  args: { name: { summary: 'name of the project' } },
  flags: { ...YES, ...DETACH, ...DRY_RUN },
  run: async (context, { args, flags }) => {
    await context.confirm(
      `This deletes project ${args.name}: its services, releases, environment and logs`,
      args.name,
      flags.yes,
    );
    const reply = await (await context.api()).deleteProject(args.name);
    await settleReply(context, reply, { detach: flags.detach, done: `${args.name} is deleted` });
  },
});

export const projects = defineGroup({
  name: 'projects',
  summary: 'List, create and delete projects',
  commands: [ls, create, remove],
  fallback: 'ls',
});
