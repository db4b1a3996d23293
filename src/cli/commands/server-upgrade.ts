import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineCommand } from '../command.ts';
import { CONFIG_FLAGS } from '../config-flags.ts';
import { localError } from '../failure.ts';
import { CONFIG_FILE, configFrom, PLACE } from './server-config.ts';
import { renewClients } from './server-downloads.ts';

export const upgrade = defineCommand({
  name: 'upgrade',
  summary: 'Exchange the executable of the running server, and go back by itself when the new one is not well',
  details: [
    'On the machine of the server, as its user. The new executable is tried on a copy of the state first, migrations included, with the settings that the server runs with. Then it takes the place of the old one, which is kept beside, and the server restarts: the API is away for about a second, apps are not. Until the new version has been well for some seconds it takes no changes; when it is not, the old executable comes back, and the state as it was.',
    'When this command is killed, or the machine restarts, the server ends the upgrade by itself. A version whose schema is older than that of the state is refused: there are no migrations back.',
    'The clients that the server hands out are renewed afterwards, from where the executable came: an address, or a folder with manifest.json. A single file leaves the server with the client of its own platform: berth server downloads.',
  ],
  examples: [
    { line: 'sudo berth server upgrade ./berth-linux-amd64', says: 'to a file that was downloaded' },
    { line: 'sudo berth server upgrade ./berth-linux-amd64 --check', says: 'only see whether it fits' },
    { line: 'sudo berth server upgrade https://other.example.com', says: 'to what another server runs' },
  ],
  scope: 'none',
  args: { what: { summary: 'the new executable: a file, a version, or the address of a server', complete: 'file' } },
  flags: {
    ...PLACE,
    from: { type: 'string', value: 'URL', summary: 'where a version is downloaded from (BERTH_RELEASE_URL)' },
    check: { type: 'boolean', summary: 'only try it on a copy of the state' },
    clients: { type: 'boolean', on: true, summary: 'leave the clients that the server hands out as they are' },
    downgrade: { type: 'boolean', summary: 'although it is older; its schema must not be' },
    'timeout-seconds': { type: 'number', value: 'N', min: 1, summary: 'time that it has to become well (60)' },
    'settle-seconds': {
      type: 'number',
      value: 'N',
      min: 0,
      summary: 'how long it has to stay well before it is confirmed (3)',
    },
  },
  run: async (context, { args, flags }) => {
    const { out, io } = context;
    const { dataDir, downloadsDir } = configFrom(context, flags);
    const [{ obtainExecutable }, { upgradeServer }] = await Promise.all([
      import('../upgrade-server/obtain.ts'),
      import('../upgrade-server/upgrade.ts'),
    ]);
    const folder = await mkdtemp(join(tmpdir(), 'berth-upgrade-'));
    const done = await (async () => {
      try {
        const { file, release } = await obtainExecutable(context, { what: args.what, from: flags.from, folder });
        const upgraded = await upgradeServer({
          dataDir,
          file,
          checkOnly: flags.check,
          downgrade: flags.downgrade,
          gate: {
            timeoutMs: (flags['timeout-seconds'] ?? 60) * 1000,
            settleMs: (flags['settle-seconds'] ?? 3) * 1000,
          },
          now: Date.now(),
          signal: io.signal,
          note: out.note,
        });
        if (flags.check || !flags.clients) return { ...upgraded, clients: null };
        const server = { executable: upgraded.executable, version: upgraded.to, downloadsDir };
        return { ...upgraded, clients: await renewClients(context, release, server) };
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    })();
    out.data(done, () =>
      done.changed
        ? `berth ${done.to} runs; ${done.from} is kept as ${done.previous}`
        : flags.check
          ? `berth ${done.to} fits this server, which runs ${done.from}`
          : `this is what runs: berth ${done.from}`,
    );
  },
});

export const check = defineCommand({
  name: 'check',
  summary: 'Try this executable on a copy of a state, with all settings',
  details: ['What berth server upgrade asks the new executable. The copy is migrated; the state itself is left alone.'],
  examples: [
    {
      line: 'berth server check --copy /tmp/copy --data-dir /var/lib/berth',
      says: 'with a copy of berth.db in /tmp/copy',
    },
  ],
  scope: 'none',
  args: {},
  flags: {
    ...CONFIG_FLAGS,
    config: CONFIG_FILE,
    copy: {
      type: 'string',
      value: 'DIR',
      complete: 'directory',
      summary: 'directory with a copy of berth.db, which is changed',
    },
  },
  run: async (context, { flags }) => {
    const config = configFrom(context, flags);
    if (flags.copy === undefined) throw localError('there is no copy to try this on', 'give it: --copy DIR');
    const { checkState } = await import('#src/compose/check.ts');
    const checked = await checkState(config, context.path(flags.copy));
    context.out.data(checked, () => `berth ${checked.version} fits; the copy has schema ${checked.database} now`);
  },
});
