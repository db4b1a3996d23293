import { readFile } from 'node:fs/promises';
import type { Api } from '../client/api.ts';
import { CA_FLAG, defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { CliFailure, fileFault, usageError } from '../failure.ts';
import { changeProfiles, configFile } from '../settings/profiles.ts';
import { isPlainRemote, normalEndpoint, readCa } from '../settings/server.ts';

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
    ca: CA_FLAG,
  },
  run: async (context, { args, flags }) => {
    const endpoint = normalEndpoint(args.url);
    if (isPlainRemote(endpoint))
      context.out.warn(`${endpoint} is not encrypted: the token crosses the network in the clear`);
    const caFile = flags.ca ?? (context.io.env['BERTH_CA'] || undefined);
    const ca = caFile === undefined ? undefined : await readCa(context.path(caFile));
    const token = checkToken(await readToken(context, flags));
    await checkAccepted(await context.apiFor({ endpoint, token, ca }));
    const name = flags.profile ?? new URL(endpoint).host;
    const profile = { endpoint, token, ...(ca === undefined ? {} : { ca }) };
    await changeProfiles(configFile(context.io), ({ profiles }) => ({
      current: name,
      profiles: { ...profiles, [name]: profile },
    }));
    context.out.data({ profile: name, endpoint }, () => `logged in to ${endpoint}; saved as ${name}`);
  },
});

/** A token without `read` is a valid one all the same. */
const checkAccepted = async (api: Api): Promise<void> => {
  try {
    await api.listProjects({ limit: 1 });
  } catch (thrown) {
    if (!(thrown instanceof CliFailure) || thrown.body.code !== 'CAPABILITY_MISSING') throw thrown;
  }
};

const readToken = async (
  context: Context,
  flags: { 'token-file': string | undefined; 'token-stdin': boolean },
): Promise<string> => {
  const file = flags['token-file'];
  if (file !== undefined)
    return readFile(context.path(file), 'utf8').catch((thrown: unknown) => {
      throw fileFault(`cannot read ${file}`, thrown);
    });
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
