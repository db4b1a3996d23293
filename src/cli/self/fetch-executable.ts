import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, rename, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { sha256OfFile } from '#kernel/executable-file';
import { isDiskFull, messageOf } from '#kernel/errors';
import type { Packing, ReleaseExecutable } from '#kernel/release-manifest';
import { CliFailure, localError } from '../failure.ts';

/** A file as a manifest announces it. */
export interface Wanted {
  name: string;
  bytes: number;
  sha256: string;
}

/** Where files come from: one by its name, from a byte on. */
export type Download = (name: string, from: number) => Promise<Response>;

const ATTEMPTS = 5;

/** Downloads an executable, compressed when it can be, and checks it. `file` is complete when this resolves. */
export const fetchExecutable = async (
  download: Download,
  executable: ReleaseExecutable,
  file: string,
): Promise<void> => {
  const packed =
    executable.packed.find(({ packing }) => packing === 'zstd') ??
    executable.packed.find(({ packing }) => packing === 'gzip');
  const parcel = `${file}.download`;
  await withDiskHint(async () => {
    await fetchFile(download, packed ?? executable, parcel);
    if (packed === undefined) return rename(parcel, file);
    await unpackFile(parcel, packed.packing, file);
    return checkFile(file, executable);
  });
};

/** Downloads one file and checks it. */
export const fetchFile = async (download: Download, wanted: Wanted, file: string): Promise<void> => {
  await fetchWhole(download, wanted, file);
  await checkFile(file, wanted);
};

export const unpackFile = (parcel: string, packing: Packing, file: string): Promise<void> =>
  pipeline(
    createReadStream(parcel),
    packing === 'zstd' ? createZstdDecompress() : createGunzip(),
    createWriteStream(file),
  );

/** Turns a full disk into words. */
export const withDiskHint = async (work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (thrown) {
    if (isDiskFull(thrown)) throw localError('the disk is full', 'free some space, then run it again', thrown);
    throw thrown;
  }
};

/** Goes on where a connection broke off; what the server has meanwhile replaced fails the checksum. */
const fetchWhole = async (download: Download, wanted: Wanted, file: string): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    const at = attempt === 1 ? 0 : (await stat(file)).size;
    const response = await download(wanted.name, at);
    const flags = at > 0 && response.status === 206 ? 'a' : 'w';
    if (response.body === null) throw broken(wanted, 'the reply is empty');
    try {
      // Of the body's own errors and those of the disk only the latter stop us.
      await pipeline(Readable.fromWeb(response.body as never), createWriteStream(file, { flags }));
      const { size } = await stat(file);
      if (size === wanted.bytes) return;
      if (size > wanted.bytes || attempt === ATTEMPTS) throw broken(wanted, `${size} of ${wanted.bytes} bytes came`);
    } catch (thrown) {
      if (isDiskFull(thrown) || thrown instanceof CliFailure || attempt === ATTEMPTS) throw thrown;
    }
  }
};

const broken = ({ name }: Wanted, why: string): CliFailure =>
  localError(`${name} could not be downloaded: ${why}`, 'run it again');

export const checkFile = async (file: string, { name, sha256 }: Wanted): Promise<void> => {
  if ((await sha256OfFile(file)) === sha256) return;
  throw localError(
    `${name} is not what the server announced: its checksum differs`,
    'run it again: the server may have been upgraded meanwhile. If it persists, tell its operator',
  );
};

/** Starts the new executable once, before it takes the place of the old one. */
export const checkRuns = async (file: string, version: string): Promise<void> => {
  await chmod(file, 0o700);
  const said = await versionSaidBy(file);
  if (said === version) return;
  throw localError(
    `the download says that it is berth ${said || '(nothing)'}, not ${version}`,
    'tell the operator of the server; this client stays as it is',
  );
};

const versionSaidBy = async (file: string): Promise<string> => {
  try {
    const child = Bun.spawn([file, '--version'], { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' });
    return (await new Response(child.stdout).text()).trim().slice(0, 100);
  } catch (thrown) {
    throw localError(
      `the new executable does not run: ${messageOf(thrown)}`,
      'is its disk mounted with noexec?',
      thrown,
    );
  }
};
