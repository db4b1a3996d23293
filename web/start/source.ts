import { IGNORE_FILE } from '#kernel/source-rules';
import { ApiError } from '../api.ts';

/** A file of a source, or a link. */
export interface SourceFile {
  /** Relative to the root of the source, with `/`. */
  path: string;
  bytes: number;
  /** Undefined where nobody says: then its first bytes do. */
  executable?: boolean | undefined;
  /** Target of a symbolic link, which has no content. */
  link?: string | undefined;
  open: () => ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Files that are to be packed. */
export interface Tree {
  name: string;
  files: number;
  bytes: number;
  /** How many the ignore rules leave out. */
  left: number;
  /** Each file in turn; the content of one has to be read before the next is asked for. */
  read: (signal: AbortSignal) => AsyncIterable<SourceFile>;
}

/** What is to be deployed: a tree to be packed, or an archive that is packed already. */
export type Source = Tree | { name: string; archive: File };

/** A tree whose files can be read in any order. */
export const treeOf = (name: string, files: SourceFile[], left: number): Tree => {
  if (files.length === 0) throw nothingLeft();
  // The same tree always gives the same archive.
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    name,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    left,
    // oxlint-disable-next-line typescript/require-await -- others have to wait
    read: async function* read() {
      yield* files;
    },
  };
};

export const sourceFile = (path: string, file: File): SourceFile => ({
  path,
  bytes: file.size,
  open: () => file.stream(),
});

export const unusable = (message: string, hint: string): ApiError =>
  new ApiError({ code: 'INVALID_INPUT', message, hint, retryable: false }, 0);

export const nothingLeft = (): ApiError =>
  unusable(
    'nothing is left to deploy: it is empty, or all of it is ignored',
    `look at ${IGNORE_FILE}, or choose another folder`,
  );
