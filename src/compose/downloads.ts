import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { downloadsFolder } from '#kernel/downloads-folder';
import { ownExecutable } from '#kernel/executable-file';
import { ownPlatform } from '#kernel/platform';
import { MANIFEST } from '#kernel/release-manifest';
import { createCatalogue, createTransfers, type DownloadsRoutesDeps } from '#modules/downloads';
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
  const folder = downloadsFolder(config.downloadsDir, executable);
  if (config.downloadsDir !== '' && !existsSync(join(config.downloadsDir, MANIFEST)))
    log.warn(`downloads_dir ${config.downloadsDir} holds no ${MANIFEST}: only this platform's client is handed out`);
  const platform = ownPlatform();
  const own = executable === undefined || platform === undefined ? undefined : { platform, file: running(executable) };
  return {
    catalogue: createCatalogue({ folder, version: VERSION, own, log }),
    transfers: createTransfers(AT_ONCE, isOpen),
  };
};

/** What runs, even when an upgrade has put another file in its place. */
const running = (executable: string): string => (process.platform === 'linux' ? '/proc/self/exe' : executable);
