import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ownExecutable } from '#kernel/executable-file';
import { ownPlatform } from '#kernel/platform';
import { createCatalogue, createTransfers, MANIFEST, type DownloadsRoutesDeps } from '#modules/downloads';
import { VERSION } from '#cli/version';
import type { Base } from './base.ts';

/** Downloads at once; each is sent by the kernel and costs a descriptor and its share of the bandwidth. */
const AT_ONCE = 32;

/** What `/install.sh` and `/dl` hand out. `isOpen` tells whether a request is still answered. */
export const assembleDownloads = async (
  { config, log }: Pick<Base, 'config' | 'log'>,
  isOpen: (request: Request) => boolean,
): Promise<DownloadsRoutesDeps> => {
  const executable = await ownExecutable();
  const folder = folderOf(config.downloadsDir, executable);
  if (config.downloadsDir !== '' && !existsSync(join(config.downloadsDir, MANIFEST)))
    log.warn(`downloads_dir ${config.downloadsDir} holds no ${MANIFEST}: only this platform's client is handed out`);
  const platform = ownPlatform();
  const own = executable === undefined || platform === undefined ? undefined : { platform, file: running(executable) };
  return {
    catalogue: createCatalogue({ folder, version: VERSION, own, log }),
    transfers: createTransfers(AT_ONCE, isOpen),
  };
};

const folderOf = (setting: string, executable: string | undefined): string | undefined => {
  if (setting !== '') return resolve(setting);
  const places =
    executable === undefined
      ? [join(import.meta.dir, '../../dist/downloads')]
      : [join(dirname(executable), 'downloads'), join(dirname(executable), '../lib/berth/downloads')];
  return places.find((place) => existsSync(join(place, MANIFEST)));
};

/** What runs, even when an upgrade has put another file in its place. */
const running = (executable: string): string => (process.platform === 'linux' ? '/proc/self/exe' : executable);
