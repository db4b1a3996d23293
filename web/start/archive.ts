import { load } from './load.ts';
import { unusable, type Source } from './source.ts';

const OTHER_ARCHIVE = /\.(?:tar\.(?:xz|bz2|zst|lz4?)|t[xb]z2?|7z|rar|iso|dmg)$/i;

/** The source in an archive; undefined for a file that is none. What reads archives is loaded with the first. */
export const archiveOf = (file: File): Promise<Source> | undefined => {
  const named = (ending: RegExp): string | undefined =>
    ending.test(file.name) ? file.name.replace(ending, '') : undefined;
  const gzipped = named(/\.(?:tar\.gz|tgz)$/i);
  if (gzipped !== undefined) return load(() => import('./tar.ts')).then(({ readTar }) => readTar(gzipped, file, true));
  const tar = named(/\.tar$/i);
  if (tar !== undefined) return load(() => import('./tar.ts')).then(({ readTar }) => readTar(tar, file, false));
  const zip = named(/\.zip$/i);
  if (zip !== undefined) return load(() => import('./zip.ts')).then(({ readZip }) => readZip(zip, file));
  if (OTHER_ARCHIVE.test(file.name))
    throw unusable(
      `${file.name} is an archive of another kind`,
      'unpack it and drop the folder, or pack it as .zip or .tar.gz',
    );
  return undefined;
};
