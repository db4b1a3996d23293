import { basename } from 'node:path';
import { defineCommand } from '../../command.ts';
import type { Context } from '../../context.ts';
import { localError } from '../../failure.ts';
import { REPO } from './manage.ts';

export const clone = defineCommand({
  name: 'clone',
  summary: 'Clone a hosted repository; nobody types a token, then or later',
  details: [
    'Runs git clone with berth as the credential helper for this server, and writes that into the configuration of the clone: pull and push use the token that berth itself uses.',
  ],
  examples: [{ line: 'berth clone web -p shop', says: 'into ./web' }],
  scope: 'project',
  operations: ['getRepo'],
  args: { ...REPO, directory: { summary: 'where to; its name without', optional: true, complete: 'directory' } },
  flags: {
    branch: { type: 'string', short: 'b', value: 'BRANCH', summary: 'branch to check out' },
    depth: { type: 'number', value: 'N', integer: true, min: 1, summary: 'only the last N commits' },
  },
  run: async (context, { args, flags }) => {
    const repo = await (await context.api()).getRepo(await context.project(), args.repo);
    const directory = context.path(args.directory ?? args.repo);
    const helper = credentialConfig(await helperCommand(context), new URL(repo.clone_url).origin);
    const code = await git(context, [
      ...helper.flatMap(([key, value]) => ['-c', `${key}=${value}`]),
      'clone',
      ...(flags.branch === undefined ? [] : [`--branch=${flags.branch}`]),
      ...(flags.depth === undefined ? [] : [`--depth=${flags.depth}`]),
      '--',
      repo.clone_url,
      directory,
    ]);
    if (code !== 0) return code;
    for (const [key, value] of helper) await git(context, ['-C', directory, 'config', '--add', key, value]);
    context.out.data({ directory, clone_url: repo.clone_url }, () => directory);
    return 0;
  },
});

/**
 * As git config takes it: an empty helper first, so that helpers of the machine are not asked (gitcredentials(7)). Git hands
 * the command to a shell.
 */
const credentialConfig = (command: string, origin: string): [string, string][] => [
  [`credential.${origin}.helper`, ''],
  [`credential.${origin}.helper`, `!${command}`],
];

/** Names the server by its profile or address, never by its token. */
const helperCommand = async (context: Context): Promise<string> => {
  const { endpoint, profile } = await context.server();
  const server = profile === undefined ? ['--endpoint', endpoint] : ['--profile', profile];
  return [process.execPath, ...scriptOf(), 'git-credential', ...server].map(quote).join(' ');
};

/** From source, the runtime is told which script to run. */
const scriptOf = (): string[] => {
  const [, script = ''] = process.argv;
  return basename(script) === 'main.ts' ? [script] : [];
};

/** For a POSIX shell. */
const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

const git = async (context: Context, argv: string[]): Promise<number> => {
  const found = Bun.which('git');
  if (found === null) throw localError('git is not installed on this machine', 'install git, then try again');
  const child = Bun.spawn([found, ...argv], {
    cwd: context.io.cwd,
    stdin: 'inherit',
    stdout: context.out.json ? 'ignore' : 'inherit',
    stderr: 'inherit',
  });
  return child.exited;
};

export const gitCredential = defineCommand({
  name: 'git-credential',
  summary: 'Credential helper for git (gitcredentials(7)); berth clone sets it up',
  examples: [
    {
      line: "git config --global credential.https://berth.example.com.helper '!berth git-credential'",
      says: 'for clones made without berth clone',
    },
  ],
  scope: 'server',
  args: { action: { summary: 'what git asks for', choices: ['get', 'store', 'erase'] } },
  flags: {},
  run: async (context, { args }) => {
    const asked = parseCredential(await context.io.readStdin());
    if (args.action !== 'get') return;
    const { endpoint, token } = await context.server();
    const { protocol, host } = new URL(endpoint);
    // Another host gets nothing, whatever git was configured to.
    if (token === undefined || `${asked.protocol}:` !== protocol || asked.host !== host) return;
    context.out.raw(`username=berth\npassword=${token}\n`);
  },
});

/** `key=value` lines, as git writes them. */
const parseCredential = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
