import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import { sha256OfFile } from '#kernel/executable-file';
import { executableName, type Platform } from '#kernel/platform';
import { PACKINGS, type Packing, type ReleaseExecutable } from '#kernel/release-manifest';

/** Good and slow: it is done once for each version. */
const COMPRESSORS: Record<Packing, () => Duplex> = {
  gzip: () => createGzip({ level: 9 }),
  zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 16 } }),
};

/** Compresses an executable that lies in `folder`, and says what the manifest says of it. */
export const describeExecutable = async (folder: string, platform: Platform): Promise<ReleaseExecutable> => {
  const name = executableName(platform);
  const packed = await Promise.all(
    (Object.keys(COMPRESSORS) as Packing[]).map(async (packing) => {
      const parcel = `${name}.${PACKINGS[packing]}`;
      const source = createReadStream(join(folder, name), { highWaterMark: 1024 * 1024 });
      await pipeline(source, COMPRESSORS[packing](), createWriteStream(join(folder, parcel)));
      return { packing, ...(await facts(folder, parcel)) };
    }),
  );
  return { platform, ...(await facts(folder, name)), packed };
};

const facts = async (folder: string, name: string) => {
  const file = join(folder, name);
  return { name, bytes: statSync(file).size, sha256: await sha256OfFile(file) };
};
