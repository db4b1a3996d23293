import { randomBytes } from 'node:crypto';
import type { Repo, UpdateRepo } from '#modules/repos';
import { defineCommand } from '../../command.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../failure.ts';
import { DRY_RUN } from '../flags.ts';
import { LINK, linkOf, REPO } from './manage.ts';

const CREDENTIAL = {
  user: { type: 'string', value: 'USER', summary: 'user name at the other side' },
  'password-stdin': { type: 'boolean', summary: 'read password or token for the other side from standard input' },
} as const;

export const mirror = defineCommand({
  name: 'mirror',
  summary: 'Make a repository that follows one elsewhere (GitHub, GitLab, Gitea, Forgejo …)',
  details: [
    'It is fetched now, again and again, and at once when the other side sends its push webhook: the address and the secret for it are printed. The password or token for a private one is read from standard input with --password-stdin.',
  ],
  examples: [
    {
      line: 'berth repos mirror web https://github.com/acme/web --deploy web',
      says: 'deploys service web at every push there',
    },
  ],
  scope: 'project',
  operations: ['createRepo'],
  args: { name: { summary: 'name of the repository' }, url: { summary: 'https address of the other one' } },
  flags: { ...LINK, ...CREDENTIAL, ...DRY_RUN },
  run: async (context, { args, flags }) => {
    const credential = await credentialOf(context, flags);
    const reply = await (
      await context.api()
    ).createRepo(await context.project(), {
      name: args.name,
      mirror_of: args.url,
      ...linkOf(flags),
      ...credential,
    });
    context.out.data(reply, () => reply.clone_url);
    if (!reply.created) context.out.note(`exists already; change it: berth repos set ${reply.name} --mirror URL`);
    tellWebhook(context, reply, reply.webhook_secret);
  },
});

const credentialOf = async (
  context: Context,
  flags: { user: string | undefined; 'password-stdin': boolean },
): Promise<Pick<UpdateRepo, 'mirror_credential'>> => {
  if (flags['password-stdin'])
    return { mirror_credential: { user: flags.user ?? 'git', password: (await context.io.readStdin()).trim() } };
  if (flags.user === undefined) return {};
  throw usageError('--user needs a password', 'add --password-stdin and give it on standard input');
};

const tellWebhook = (context: Context, repo: Repo, secret: string | null): void => {
  if (secret !== null) context.out.note(`webhook: ${repo.webhook_url} · secret: ${secret} (not shown again)`);
};

export const set = defineCommand({
  name: 'set',
  summary: 'Rename a repository, change its default branch or what it mirrors',
  details: ['What pushes deploy is changed with: berth repos link'],
  examples: [
    { line: 'berth repos set web --name site', says: 'its clone URL changes too' },
    {
      line: 'berth repos set web --user deploy --password-stdin < token.txt',
      says: 'another credential for the mirrored address',
    },
    { line: 'berth repos set web --no-mirror', says: 'takes pushes from now on' },
  ],
  scope: 'project',
  operations: ['updateRepo'],
  args: REPO,
  flags: {
    name: { type: 'string', value: 'NAME', summary: 'its new name' },
    'default-branch': { type: 'string', value: 'BRANCH', summary: 'branch that clones start with' },
    mirror: { type: 'string', value: 'URL', summary: 'follow the repository at this https address' },
    'no-mirror': { type: 'boolean', summary: 'follow nothing any more; what was fetched stays' },
    ...CREDENTIAL,
    'no-password': { type: 'boolean', summary: 'forget the credential for the other side' },
    'new-secret': { type: 'boolean', summary: 'make and show a new secret for the webhook' },
    ...DRY_RUN,
  },
  run: async (context, { args, flags }) => {
    if (flags.mirror !== undefined && flags['no-mirror'])
      throw usageError('--mirror and --no-mirror contradict each other', 'give one of them');
    const api = await context.api();
    const project = await context.project();
    const body: UpdateRepo = {
      ...(flags.name === undefined ? {} : { name: flags.name }),
      ...(flags['default-branch'] === undefined ? {} : { default_branch: flags['default-branch'] }),
      ...(flags.mirror === undefined ? {} : { mirror_of: flags.mirror }),
      ...(flags['no-mirror'] ? { mirror_of: null } : {}),
      ...(flags['no-password'] || flags['no-mirror']
        ? { mirror_credential: null }
        : await credentialOf(context, flags)),
    };
    // One that mirrored nothing has no secret yet.
    const fresh = flags.mirror !== undefined && (await api.getRepo(project, args.repo)).mirror_of === null;
    const secret = flags['new-secret'] || fresh ? randomBytes(24).toString('hex') : null;
    if (secret !== null) body.webhook_secret = secret;
    if (Object.keys(body).length === 0)
      throw usageError(
        'nothing to change is given',
        'give --name, --default-branch, --mirror, --no-mirror, --password-stdin or --new-secret',
      );
    const reply = await api.updateRepo(project, args.repo, body);
    context.out.data(secret === null ? reply : { ...reply, webhook_secret: secret }, () => `${reply.name} is changed`);
    tellWebhook(context, reply, secret);
  },
});

export const sync = defineCommand({
  name: 'sync',
  summary: 'Fetch a mirrored repository now',
  examples: [{ line: 'berth repos sync web', says: 'how it went: berth repos info web' }],
  scope: 'project',
  operations: ['syncRepo'],
  args: REPO,
  flags: DRY_RUN,
  run: async (context, { args }) => {
    const reply = await (await context.api()).syncRepo(await context.project(), args.repo);
    context.out.data(reply, () => `fetching; how it went: berth repos info ${args.repo}`);
  },
});
