import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#kernel/config';
import { messageOf } from '#kernel/errors';
import { defineCommand } from '../command.ts';
import { CONFIG_FLAGS } from '../config-flags.ts';
import type { Context } from '../context.ts';
import { bytes, count } from '../output/format.ts';
import { configFrom } from './server-config.ts';

const PLACE = {
  ...(CONFIG_FLAGS['data-dir'] === undefined ? {} : { 'data-dir': CONFIG_FLAGS['data-dir'] }),
  config: { type: 'string', value: 'FILE', complete: 'file', summary: 'configuration file of the server' },
} as const;

export const backupState = defineCommand({
  name: 'backup-state',
  summary: "Back up the server's own state into one file, while it runs",
  details: [
    'On the machine of the server, as its user. The file holds the database, the secret key, the configuration, the certificates and the git repositories; with --with-images the releases, with --with-backups the backups of datastores too. Logs are left out, and so are the data of datastores and volumes. Whoever has the file has the secrets: it is made with mode 0600, keep it so.',
  ],
  examples: [
    { line: 'sudo berth backup-state /backup/berth-$(date +%F).tar.gz', says: 'every night, from cron' },
    {
      line: 'sudo berth backup-state /backup/berth.tar.gz --with-images --force',
      says: 'with the images of all releases, over an older one',
    },
  ],
  scope: 'none',
  args: { file: { summary: 'file to write', complete: 'file' } },
  flags: {
    ...PLACE,
    'with-images': { type: 'boolean', summary: 'include the registry: the images of all releases' },
    'with-backups': { type: 'boolean', summary: 'include the backups of all datastores, as large as they are' },
    force: { type: 'boolean', summary: 'replace a file that exists' },
  },
  run: async (context, { args, flags }) => {
    const { dataDir } = configFrom(context, flags);
    const to = context.path(args.file);
    const { backupState: backup } = await import('../state/backup.ts');
    let total = 0;
    const manifest = await backup({
      dataDir,
      to,
      withImages: flags['with-images'],
      withBackups: flags['with-backups'],
      force: flags.force,
      now: Date.now(),
      onFile: (_path, size) => (total += size),
    });
    const facts = {
      file: to,
      files: manifest.files.length,
      bytes: total,
      schema: manifest.schema,
      created_at: manifest.created_at,
      with_images: manifest.with_images,
      with_backups: manifest.with_backups ?? false,
    };
    context.out.data(facts, () => `${to}: ${count(facts.files, 'file')}, ${bytes(total)}`);
  },
});

export const restoreState = defineCommand({
  name: 'restore-state',
  summary: "Put a backup of a server's state in place of its data directory",
  details: [
    'The server has to be stopped. All of the backup is verified first; nothing is changed when it is damaged. With --force, state that is there is kept beside, under another name; its images, logs and backups of datastores stay in use when the archive has none. The proxy and the registry are restarted. Start the server afterwards; on another machine, without images the services have to be deployed again, and datastores begin empty: restore their backups.',
  ],
  examples: [
    { line: 'sudo berth restore-state /backup/berth.tar.gz --data-dir /var/lib/berth', says: 'on a new machine' },
  ],
  scope: 'none',
  args: { file: { summary: 'file that berth backup-state made', complete: 'file' } },
  flags: { ...PLACE, force: { type: 'boolean', summary: 'although the data directory is not empty' } },
  run: async (context, { args, flags }) => {
    const config = configFrom(context, flags);
    const [{ restoreState: restore }, { MIGRATIONS }] = await Promise.all([
      import('../state/restore.ts'),
      import('#kernel/database'),
    ]);
    const { manifest, kept } = await restore({
      from: context.path(args.file),
      dataDir: config.dataDir,
      force: flags.force,
      newestSchema: MIGRATIONS.at(-1)?.version ?? 0,
      isRunning: () => isRunning(config),
      now: Date.now(),
    });
    const facts = {
      data_dir: config.dataDir,
      from: manifest.created_at,
      files: manifest.files.length,
      with_images: manifest.with_images,
      with_backups: manifest.with_backups ?? false,
      kept,
    };
    context.out.data(
      facts,
      () =>
        `${config.dataDir} is as it was on ${manifest.created_at}${kept === null ? '' : `; what was there is now ${kept}`}`,
    );
    if (kept !== null) await remount(context, config);
    context.out.note(
      manifest.with_images || kept !== null
        ? 'next: start the server'
        : 'next: start the server, then deploy the services again (the backup has no images)',
    );
  },
});

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
