import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupKeys } from '#engines/backups/identity';
import type { Config } from '#kernel/config';
import { messageOf } from '#kernel/errors';
import { defineCommand, defineGroup } from '../command.ts';
import type { Context } from '../context.ts';
import { CliFailure, localError } from '../failure.ts';
import { bytes, count } from '../output/format.ts';
import type { Manifest } from '../state/archive.ts';
import { configFrom, PLACE } from './server-config.ts';

const KEY_FILE = {
  type: 'string',
  value: 'FILE',
  complete: 'file',
  summary: 'age identity that the archive is encrypted for',
} as const;

const backup = defineCommand({
  name: 'backup',
  summary: 'Put the whole server into one file, while it runs',
  details: [
    'On the machine of the server, as its user. The file holds the database, the keys, the settings, the certificates, the git repositories, the images of all releases and the backups of datastores; logs and other volumes are left out. The data of datastores comes along as their newest backups: --fresh makes new ones first, for which an admin token is needed (--token, or a profile).',
    'Whoever has the file has the secrets: it is made with mode 0600. With --key-file it is encrypted in the format of age; the file is made when there is none. Keep it elsewhere than the archive.',
  ],
  examples: [
    {
      line: 'sudo berth state backup /backup/berth.tar.gz --fresh --token "$TOKEN"',
      says: 'to move to another machine, with the data of now',
    },
    {
      line: 'sudo berth state backup /backup/berth-$(date +%F).tar.gz --no-images --no-backups',
      says: 'every night, small: backups of datastores are kept in a bucket',
    },
  ],
  scope: 'server',
  args: { file: { summary: 'file to write', complete: 'file' } },
  flags: {
    ...PLACE,
    images: { type: 'boolean', on: true, summary: 'leave out the registry: releases have to be deployed again' },
    backups: { type: 'boolean', on: true, summary: 'leave out the backups of datastores' },
    fresh: { type: 'boolean', summary: 'back up every datastore first' },
    'key-file': KEY_FILE,
    force: { type: 'boolean', summary: 'replace a file that exists' },
  },
  run: async (context, { args, flags }) => {
    const { dataDir } = configFrom(context, flags);
    const to = context.path(args.file);
    const { backupState } = await import('../state/backup.ts');
    if (flags.fresh) {
      const { makeFreshBackups } = await import('../state/fresh-backups.ts');
      await makeFreshBackups(await context.api(), context.out.note);
    }
    let total = 0;
    const manifest = await backupState({
      dataDir,
      to,
      withImages: flags.images,
      withBackups: flags.backups,
      keys: await keysFor(context, flags['key-file'], 'make'),
      force: flags.force,
      now: Date.now(),
      onFile: (_path, size) => (total += size),
    });
    context.out.data(
      { file: to, ...factsOf(manifest), bytes: total, encrypted: flags['key-file'] !== undefined },
      () => `${to}: ${count(manifest.files.length, 'file')}, ${bytes(total)}`,
    );
    if (flags['key-file'] === undefined)
      context.out.note('the file holds all secrets of the server: keep it where nobody else reads');
  },
});

const verify = defineCommand({
  name: 'verify',
  summary: 'Read all of a state archive, and compare it with its checksums',
  examples: [{ line: 'berth state verify /backup/berth.tar.gz', says: 'before it is relied on' }],
  scope: 'none',
  args: { file: { summary: 'file that berth state backup made', complete: 'file' } },
  flags: { 'key-file': KEY_FILE },
  run: async (context, { args, flags }) => {
    const [{ verifyState }, { NEWEST_SCHEMA }] = await Promise.all([
      import('../state/restore.ts'),
      import('#kernel/database'),
    ]);
    const from = context.path(args.file);
    const keys = await keysFor(context, flags['key-file'], 'read');
    const manifest = await verifyState({ from, keys, newestSchema: NEWEST_SCHEMA });
    context.out.data(
      { file: from, ...factsOf(manifest) },
      () => `${from} is whole: ${count(manifest.files.length, 'file')}, made on ${manifest.created_at}`,
    );
  },
});

const restore = defineCommand({
  name: 'restore',
  summary: 'Put a state archive in the place of the data directory',
  details: [
    'The server has to be stopped. All of the archive is verified first; nothing is changed when it is damaged. With --force, state that is there is kept beside, under another name; its images, logs and backups of datastores stay in use when the archive has none. When it is of another installation, whose containers or networks are still there, nothing is changed, and how to remove them is said. The proxy and the registry are restarted. Start the server afterwards: services come up from their releases, and datastores whose data is not on this machine get their newest backup.',
  ],
  examples: [
    {
      line: 'sudo berth state restore /backup/berth.tar.gz --data-dir /var/lib/berth --force',
      says: 'on a new machine',
    },
  ],
  scope: 'none',
  args: { file: { summary: 'file that berth state backup made', complete: 'file' } },
  flags: {
    ...PLACE,
    'key-file': KEY_FILE,
    force: { type: 'boolean', summary: 'although the data directory is not empty' },
  },
  run: async (context, { args, flags }) => {
    const before = configFrom(context, flags);
    const [{ restoreState }, { NEWEST_SCHEMA }] = await Promise.all([
      import('../state/restore.ts'),
      import('#kernel/database'),
    ]);
    const { manifest, kept } = await restoreState({
      from: context.path(args.file),
      keys: await keysFor(context, flags['key-file'], 'read'),
      dataDir: before.dataDir,
      force: flags.force,
      newestSchema: NEWEST_SCHEMA,
      isRunning: () => isRunning(before),
      requireGone: (restored) => requireNothingInTheWay(context, before, restored),
      now: Date.now(),
    });
    const changed = changedSettings(before, configFrom(context, flags));
    context.out.data(
      { data_dir: before.dataDir, ...factsOf(manifest), kept, changed_settings: changed },
      () =>
        `${before.dataDir} is as it was on ${manifest.created_at}${kept === null ? '' : `; what was there is now ${kept}`}`,
    );
    if (kept !== null) await remount(context, before);
    sayNext(context, configFrom(context, flags), { changed, images: manifest.with_images || kept !== null });
  },
});

export const state = defineGroup({
  name: 'state',
  summary: "Back up a server's whole state, verify it, move it to another machine",
  commands: [backup, verify, restore],
});

const factsOf = ({ files, schema, created_at, with_images, with_backups = false }: Manifest) => ({
  files: files.length,
  schema,
  created_at,
  with_images,
  with_backups,
});

const keysFor = async (
  context: Context,
  file: string | undefined,
  what: 'make' | 'read',
): Promise<BackupKeys | undefined> => {
  if (file === undefined) return undefined;
  const { loadIdentity, loadOrCreateIdentity } = await import('#engines/backups/identity');
  const path = context.path(file);
  const keys = await (what === 'make' ? loadOrCreateIdentity(path) : loadIdentity(path));
  if (keys === undefined)
    throw localError(`there is no key file ${path}`, 'name the one that the archive was made with');
  return keys;
};

/** What the archive's settings say otherwise than this machine's: names and ports of another place. */
const PLACE_SETTINGS = [
  'baseDomain',
  'listen',
  'httpPort',
  'httpsPort',
  'proxyApiPort',
  'registryPort',
  'acmeEmail',
] as const;

const changedSettings = (before: Config, after: Config): { setting: string; before: string; now: string }[] =>
  PLACE_SETTINGS.filter((key) => before[key] !== after[key]).map((key) => ({
    setting: key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    before: String(before[key]),
    now: String(after[key]),
  }));

const sayNext = (
  { out }: Context,
  config: Config,
  { changed, images }: { changed: ReturnType<typeof changedSettings>; images: boolean },
): void => {
  for (const { setting, before, now } of changed)
    out.note(
      `${setting} is "${now}" now, as in the archive; this machine had "${before}": see ${config.dataDir}/berth.toml`,
    );
  if (config.baseDomain !== 'localhost')
    out.note(`DNS: ${config.baseDomain} and *.${config.baseDomain} have to point at this machine`);
  out.note(
    images
      ? 'next: start the server'
      : 'next: start the server, then deploy the services again (the backup has no images)',
  );
};

/** Where Docker does not answer, nothing of the former installation can be seen, nor be in the way right now. */
const requireNothingInTheWay = async ({ out }: Context, config: Config, restored: string): Promise<void> => {
  const [{ dockerAt }, { requireGone }] = await Promise.all([
    import('../state/containers.ts'),
    import('../state/former.ts'),
  ]);
  try {
    await requireGone(dockerAt(config.dockerSocket), { dataDir: config.dataDir, restored });
  } catch (thrown) {
    if (thrown instanceof CliFailure) throw thrown;
    out.warn(`whether containers of another installation are in the way could not be seen: ${messageOf(thrown)}`);
  }
};

/** The proxy serves the apps while the server is stopped: it has to look at the restored directories now. */
const remount = async ({ out }: Context, { dataDir, dockerSocket }: Config): Promise<void> => {
  const { dockerAt, restartMounted } = await import('../state/containers.ts');
  try {
    const names = await restartMounted(dockerAt(dockerSocket), dataDir);
    if (names.length > 0) out.note(`restarted ${names.join(', ')}, which use the restored state`);
  } catch (thrown) {
    out.warn(
      `containers that use ${dataDir} could not be restarted: ${messageOf(thrown)}; restart them before the server (docker restart)`,
    );
  }
};

/** By the lock that a server holds on its data directory. */
const isRunning = async ({ dataDir }: Config): Promise<boolean> => {
  const [{ isLocked }, names] = await Promise.all([import('#kernel/lock'), readdir(dataDir).catch(() => [])]);
  return names.some((name) => name.endsWith('.lock') && isLocked(join(dataDir, name)));
};
