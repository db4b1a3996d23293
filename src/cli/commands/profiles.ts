import { defineCommand } from '../command.ts';
import { CliFailure, usageError } from '../failure.ts';
import { configFile, readProfiles, writeProfiles } from '../settings/profiles.ts';
import { didYouMean } from '../suggest.ts';

export const logout = defineCommand({
  name: 'logout',
  summary: 'Forget a saved server and its token',
  details: ['The token itself goes on being valid: berth tokens revoke ends it.'],
  examples: [{ line: 'berth logout work', says: 'forget the server saved as work' }],
  scope: 'none',
  args: { profile: { summary: 'name it was saved under (default: the one in use)', optional: true } },
  flags: {},
  run: async (context, { args }) => {
    const file = configFile(context.io);
    const { current, profiles } = await readProfiles(file);
    const name = args.profile ?? current;
    if (name === null) throw usageError('no server is in use', 'name one: berth logout <profile>');
    if (profiles[name] === undefined) throw unknownProfile(name, Object.keys(profiles));
    const left = Object.fromEntries(Object.entries(profiles).filter(([each]) => each !== name));
    await writeProfiles(file, { current: current === name ? null : current, profiles: left });
    context.out.data({ profile: name, forgotten: true }, () => `${name} is forgotten`);
  },
});

export const use = defineCommand({
  name: 'use',
  summary: 'Use another saved server; without a name, list them',
  examples: [
    { line: 'berth use', says: 'which servers are saved?' },
    { line: 'berth use work', says: 'use this one from now on' },
  ],
  scope: 'none',
  args: { profile: { summary: 'name it was saved under', optional: true } },
  flags: {},
  run: async (context, { args }) => {
    const file = configFile(context.io);
    const { current, profiles } = await readProfiles(file);
    if (args.profile === undefined) {
      const rows = Object.entries(profiles).map(([name, { endpoint }]) => ({
        name,
        endpoint,
        current: name === current,
      }));
      return context.out.list({ profiles: rows }, rows, {
        columns: [
          { title: '', value: (row) => (row.current ? '*' : ' ') },
          { title: 'PROFILE', value: (row) => row.name },
          { title: 'SERVER', value: (row) => row.endpoint, flexible: true },
        ],
        empty: 'no server is saved: berth login <url>',
      });
    }
    const profile = profiles[args.profile];
    if (profile === undefined) throw unknownProfile(args.profile, Object.keys(profiles));
    await writeProfiles(file, { current: args.profile, profiles });
    context.out.data({ profile: args.profile, endpoint: profile.endpoint }, () => `using ${profile.endpoint}`);
    return undefined;
  },
});

export const whoami = defineCommand({
  name: 'whoami',
  summary: 'Show which server is used, and whether its token works',
  examples: [{ line: 'berth whoami', says: 'server, profile, version, token' }],
  scope: 'server',
  args: {},
  flags: {},
  run: async (context) => {
    const settings = await context.server();
    const api = await context.api();
    const health = await api.health();
    const token = settings.token === undefined ? 'none' : await tokenState(() => api.listProjects({ limit: 1 }));
    const version = typeof health['version'] === 'string' ? health['version'] : 'unknown';
    const facts = { endpoint: settings.endpoint, profile: settings.profile ?? null, server_version: version, token };
    context.out.data(facts, () =>
      Object.entries(facts)
        .map(([name, value]) => `${name.replace('_', ' ').padEnd(15)} ${value ?? '-'}`)
        .join('\n'),
    );
    return token === 'accepted' ? 0 : 1;
  },
});

/** A token without `read` is still a valid token: only UNAUTHENTICATED says that it is none. */
const tokenState = async (ask: () => Promise<unknown>): Promise<'accepted' | 'refused'> => {
  try {
    await ask();
    return 'accepted';
  } catch (thrown) {
    if (!(thrown instanceof CliFailure)) throw thrown;
    if (thrown.body.code === 'CAPABILITY_MISSING') return 'accepted';
    if (thrown.body.code === 'UNAUTHENTICATED') return 'refused';
    throw thrown;
  }
};

const unknownProfile = (name: string, known: readonly string[]): Error =>
  usageError(
    `no profile named "${name}"`,
    didYouMean(name, known, known.length === 0 ? 'none is saved' : `saved: ${known.join(', ')}`),
  );
