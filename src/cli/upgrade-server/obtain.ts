import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import semver from 'semver';
import { ownPlatform } from '#kernel/platform';
import type { Context } from '../context.ts';
import { localError } from '../failure.ts';
import { bytes } from '../output/format.ts';
import { isUrl, releaseAt, releaseIn, type Release } from '../releases/release.ts';
import { fetchExecutable } from '../self/fetch-executable.ts';

export interface Wanted {
  /** A file, a version, or the address of a server that hands executables out. */
  what: string;
  /** Where a version comes from. */
  from: string | undefined;
  /** A directory to download to. */
  folder: string;
}

export interface Obtained {
  /** The new executable. */
  file: string;
  /** The release that it is of, for the clients of the other platforms; undefined when it came alone. */
  release: Release | undefined;
}

/** The new executable as a file; what is downloaded is checked against the checksum that its server announces. */
export const obtainExecutable = async (context: Context, wanted: Wanted): Promise<Obtained> => {
  const { what } = wanted;
  if (isUrl(what)) return download(context, what, { ...wanted, version: undefined });
  const file = context.path(what);
  if (await isFile(file)) return { file, release: await releaseIn(file) };
  const version = semver.valid(what);
  if (version === null)
    throw localError(
      `there is no file ${file}`,
      'name the executable to upgrade to, a version (0.2.0), or the address of a server to take it from',
    );
  const from = wanted.from ?? context.io.env['BERTH_RELEASE_URL'];
  if (from === undefined)
    throw localError(
      `nothing says where berth ${version} comes from`,
      'add --from URL: an address below which /dl/manifest.json or manifest.json lies; or set BERTH_RELEASE_URL',
    );
  return download(context, from, { ...wanted, version });
};

const download = async (
  context: Context,
  from: string,
  { folder, version }: { folder: string; version: string | undefined },
): Promise<Obtained> => {
  const release = await releaseAt(context, from);
  const { manifest } = release;
  if (version !== undefined && manifest.version !== version)
    throw localError(
      `${from} has berth ${manifest.version}, not ${version}`,
      `ask for what it has, or name another --from`,
    );
  const platform = ownPlatform();
  const executable = manifest.executables.find((each) => each.platform === platform);
  if (executable === undefined)
    throw localError(
      `${from} has no executable for ${platform ?? 'this platform'}`,
      'take it from elsewhere, as a file',
    );
  context.out.note(`downloading berth ${manifest.version} (${bytes(executable.bytes)})`);
  const file = join(folder, 'berth');
  await fetchExecutable(release.download, executable, file);
  return { file, release };
};

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
