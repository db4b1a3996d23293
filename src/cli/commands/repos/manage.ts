import type { Repo, UpdateRepo } from '#modules/repos';
import { readPages } from '../../client/pages.ts';
import { defineCommand } from '../../command.ts';
import { usageError } from '../../failure.ts';
import { age, bytes } from '../../output/format.ts';
import { DRY_RUN, PAGING, YES } from '../flags.ts';

export const REPO = { repo: { summary: 'name of the repository' } } as const;

export const LINK = {
  deploy: { type: 'string', value: 'SERVICE', summary: 'service that a push deploys' },
  branch: { type: 'string', value: 'BRANCH', summary: 'branch whose pushes deploy; the default branch without' },
  root: { type: 'string', value: 'FOLDER', summary: 'folder of the repository that is deployed' },
  preview: { type: 'boolean', on: 'auto', summary: 'deploy other branches as <service>-<branch> (--no-preview)' },
} as const;

interface LinkFlags {
  deploy: string | undefined;
  branch: string | undefined;
  root: string | undefined;
  preview: boolean;
}

/** What was given, as the API takes it. */
export const linkOf = (
  flags: LinkFlags,
): Pick<UpdateRepo, 'deploy_service' | 'deploy_branch' | 'root' | 'preview'> => ({
  ...(flags.deploy === undefined ? {} : { deploy_service: flags.deploy }),
  ...(flags.branch === undefined ? {} : { deploy_branch: flags.branch }),
  ...(flags.root === undefined ? {} : { root: flags.root }),
  ...((flags.preview as boolean | undefined) === undefined ? {} : { preview: flags.preview }),
});

export const create = defineCommand({
  name: 'create',
  summary: 'Make a git repository; one that exists is no error',
  examples: [
    { line: 'berth repos create web --deploy web', says: 'every push to its default branch deploys service web' },
    {
      line: 'berth repos create docs --deploy docs --root site --preview',
      says: 'a folder; other branches get previews',
    },
  ],
  scope: 'project',
  operations: ['createRepo'],
  args: { name: { summary: 'name of the repository' } },
  flags: {
    ...LINK,
    'default-branch': { type: 'string', value: 'BRANCH', summary: 'name of the first branch (main)' },
    ...DRY_RUN,
  },
  run: async (context, { args, flags }) => {
    const reply = await (
      await context.api()
    ).createRepo(await context.project(), {
      name: args.name,
      ...linkOf(flags),
      ...(flags['default-branch'] === undefined ? {} : { default_branch: flags['default-branch'] }),
    });
    context.out.data(reply, () => reply.clone_url);
    context.out.note(`${reply.created ? 'created' : 'exists already'}; clone it: berth clone ${reply.name}`);
  },
});

export const ls = defineCommand({
  name: 'ls',
  summary: 'List the git repositories of a project',
  examples: [{ line: 'berth repos ls -p shop', says: 'with what their pushes deploy' }],
  scope: 'project',
  operations: ['listRepos'],
  args: {},
  flags: PAGING,
  run: async (context, { flags }) => {
    const [api, project] = [await context.api(), await context.project()];
    const reply = await readPages(flags, ['repos'], (page) => api.listRepos(project, page));
    const now = Date.now();
    context.out.list(reply, reply.repos, {
      columns: [
        { title: 'REPO', value: (row) => row.name },
        { title: 'DEPLOYS', value: deploysText },
        { title: 'PUSHED', value: (row) => (row.pushed_at === null ? 'never' : `${age(row.pushed_at, now)} ago`) },
        { title: 'SIZE', value: (row) => bytes(row.size_bytes), align: 'right' },
        { title: 'MIRROR OF', value: (row) => row.mirror_of, flexible: true },
        { title: 'CLONE', value: (row) => row.clone_url, flexible: true },
      ],
      empty: 'no repository yet: berth repos create <name> --deploy <service>',
    });
  },
});

/** What pushes deploy, in a few words. */
export const deploysText = (repo: Repo): string | null => {
  if (repo.deploy_service === null) return null;
  const folder = repo.root === null ? '' : ` (${repo.root})`;
  return `${repo.deploy_branch ?? repo.default_branch} → ${repo.deploy_service}${folder}${repo.preview ? ' + previews' : ''}`;
};

export const link = defineCommand({
  name: 'link',
  summary: 'Say what pushes to a repository deploy',
  examples: [
    { line: 'berth repos link web --deploy web --branch release', says: 'pushes to release deploy web' },
    { line: 'berth repos link web --off', says: 'pushes deploy nothing' },
  ],
  scope: 'project',
  operations: ['updateRepo'],
  args: REPO,
  flags: {
    ...LINK,
    off: { type: 'boolean', summary: 'deploy nothing any more' },
    ...DRY_RUN,
  },
  run: async (context, { args, flags }) => {
    const body: UpdateRepo = {
      ...linkOf(flags),
      ...(flags.off ? { deploy_service: null } : {}),
    };
    if (Object.keys(body).length === 0)
      throw usageError('nothing to change is given', 'give --deploy, --branch, --root, --preview or --off');
    const reply = await (await context.api()).updateRepo(await context.project(), args.repo, body);
    context.out.data(reply, () => `${reply.name}: ${deploysText(reply) ?? 'pushes deploy nothing'}`);
  },
});

export const remove = defineCommand({
  name: 'delete',
  summary: 'Delete a repository with all its history; services stay as they are',
  examples: [{ line: 'berth repos delete web', says: 'asks for the name as confirmation' }],
  scope: 'project',
  operations: ['deleteRepo'],
  args: REPO,
  flags: { ...YES, ...DRY_RUN },
  run: async (context, { args, flags }) => {
    await context.confirm(`This deletes repository ${args.repo} and all its history`, args.repo, flags.yes);
    const reply = await (await context.api()).deleteRepo(await context.project(), args.repo);
    context.out.data(reply, () => `${args.repo} is deleted`);
  },
});
