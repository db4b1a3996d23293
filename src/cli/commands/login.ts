import { readFile } from 'node:fs/promises';
import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { configFile, readProfiles, writeProfiles } from '../settings/profiles.ts';
import { isPlainRemote, normalEndpoint } from '../settings/server.ts';

export const login = defineCommand({
  name: 'login',
  summary: 'Save a server and its token, and use it from now on',
  details: [
    'The token is checked before it is saved, in a file that only you can read. It never has to stand on the command line: it is asked for, read from a file, or from standard input.',
  ],
  examples: [
    { line: 'berth login https://api.example.com', says: 'asks for the token' },
    {
      line: 'berth login https://api.example.com --token-file ./token --profile work',
      says: 'from a file, beside other servers',
    },
    { line: 'pass show berth | berth login https://api.example.com --token-stdin', says: 'from another program' },
  ],
  scope: 'none',
  args: { url: { summary: 'address of the server' } },
  flags: {
    profile: { type: 'string', value: 'NAME', summary: 'name to save it under (default: its host)' },
    'token-file': { type: 'string', value: 'FILE', complete: 'file', summary: 'read the token from a file' },
    'token-stdin': { type: 'boolean', summary: 'read the token from standard input' },
  },
  run: async (context, { args, flags }) => {
    const endpoint = normalEndpoint(args.url);
    if (isPlainRemote(endpoint))
      context.out.warn(`${endpoint} is not encrypted: the token crosses the network in the clear`);
    const token = checkToken(await readToken(context, flags));
    await (await context.apiFor(endpoint, token)).listProjects({ limit: 1 });
    const file = configFile(context.io);
    const saved = await readProfiles(file);
    const name = flags.profile ?? new URL(endpoint).host;
    await writeProfiles(file, { current: name, profiles: { ...saved.profiles, [name]: { endpoint, token } } });
    context.out.data({ profile: name, endpoint }, () => `logged in to ${endpoint}; saved as ${name}`);
  },
});

const readToken = async (
  context: Context,
  flags: { 'token-file': string | undefined; 'token-stdin': boolean },
): Promise<string> => {
  if (flags['token-file'] !== undefined) return readFile(context.path(flags['token-file']), 'utf8');
  if (flags['token-stdin']) return context.io.readStdin();
  const fromEnvironment = context.io.env['SERVICE_TOKEN'];
  if (fromEnvironment !== undefined && fromEnvironment !== '') return fromEnvironment;
  if (context.io.interactive) return context.io.ask('token: ', { hidden: true });
  throw usageError('no token is given', 'give --token-file FILE or --token-stdin');
};

const checkToken = (text: string): string => {
  const token = text.trim();
  if (/^[\u0021-\u007E]+$/.test(token)) return token;
  throw usageError(
    token === '' ? 'the token is empty' : 'the token has characters that no token has',
    'copy it again; it looks like brt_…',
  );
};
