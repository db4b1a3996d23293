import type { Api } from '../client/api.ts';
import { defineCommand } from '../command.ts';
import { CliFailure, usageError } from '../failure.ts';
import { factLines } from '../output/facts.ts';
import { changeProfiles, configFile, readProfiles } from '../settings/profiles.ts';
import { didYouMean } from '../suggest.ts';
import { VERSION } from '../version.ts';

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
    await changeProfiles(file, (saved) => ({
      current: saved.current === name ? null : saved.current,
      profiles: Object.fromEntries(Object.entries(saved.profiles).filter(([each]) => each !== name)),
    }));
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
    const chosen = args.profile;
    await changeProfiles(file, (saved) => ({ ...saved, current: chosen }));
    context.out.data({ profile: args.profile, endpoint: profile.endpoint }, () => `using ${profile.endpoint}`);
    return undefined;
  },
});

export const whoami = defineCommand({
  name: 'whoami',
  summary: 'Show which server is used, and what its token may do; exits 1 when the token does not work',
  examples: [{ line: 'berth whoami', says: 'server, versions, principal, capabilities, projects' }],
  scope: 'server',
  operations: ['whoami'],
  args: {},
  flags: {},
  run: async (context) => {
    const settings = await context.server();
    const api = await context.api();
    const health = await api.health();
    const version = typeof health['version'] === 'string' ? health['version'] : 'unknown';
    const own = settings.token === undefined ? undefined : await tokenFacts(api);
    const facts = {
      endpoint: settings.endpoint,
      profile: settings.profile ?? null,
      server_version: version,
      client_version: VERSION,
      token: settings.token === undefined ? 'none' : own === undefined ? 'refused' : 'accepted',
      ...own,
    };
    context.out.data(facts, () => factLines(facts).join('\n'));
    const { versionAdvice } = await import('../client/failures.ts');
    const advice = versionAdvice(version);
    if (advice !== undefined) context.out.warn(advice);
    return own === undefined ? 1 : 0;
  },
});

/** What the token may do; undefined when it is none. A server that cannot say what it may do still says whether it is one. */
const tokenFacts = async (api: Api): Promise<object | undefined> => {
  try {
    return await api.whoami();
  } catch (thrown) {
    if (!(thrown instanceof CliFailure)) throw thrown;
    if (thrown.body.code === 'UNAUTHENTICATED') return undefined;
    if (thrown.body.code === 'NOT_FOUND') return {};
    throw thrown;
  }
};

const unknownProfile = (name: string, known: readonly string[]): Error =>
  usageError(
    `no profile named "${name}"`,
    didYouMean(name, known, known.length === 0 ? 'none is saved' : `saved: ${known.join(', ')}`),
  );
