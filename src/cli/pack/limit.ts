import { CliFailure } from '../failure.ts';
import { bytes } from '../output/format.ts';
import { packedSize } from './pack.ts';
import { largestFolders, type SourceTree } from './walk.ts';

/** What the server takes of a packed source. */
const LIMIT = 512 * 1024 ** 2;

/**
 * The limit counts packed bytes: sources above it are packed once on trial, which `onTrial` is told before, so that a refusal
 * comes before the upload. Throws SOURCE_TOO_LARGE.
 */
export const requireFits = async (tree: SourceTree, onTrial: (note: string) => void, limit = LIMIT): Promise<void> => {
  if (tree.bytes <= limit) return;
  onTrial(`the source has ${bytes(tree.bytes)}; packing it on trial to see whether it stays below ${bytes(limit)}`);
  if ((await packedSize(tree, limit)) <= limit) return;
  const largest = largestFolders(tree, 5).map((folder) => `${folder.path} ${bytes(folder.bytes)}`);
  throw new CliFailure({
    code: 'SOURCE_TOO_LARGE',
    message: `the source has ${bytes(tree.bytes)} and is above ${bytes(limit)} when packed; largest: ${largest.join(', ')}`,
    hint: 'exclude artifacts and data: one path prefix a line in .serviceignore',
    retryable: false,
  });
};
