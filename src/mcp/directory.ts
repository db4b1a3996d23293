import { isAbsolute, resolve } from 'node:path';
import { CliFailure, localError } from '#cli/failure';
import { bytes, count } from '#cli/output/format';
import { packedSize, packSource } from '#cli/pack/pack';
import { largestFolders, walkSource, type SourceTree } from '#cli/pack/walk';
import type { Call } from './tool.ts';

const LIMIT = 512 * 1024 ** 2;

/** A directory of this machine as the upload of a deploy, made while it is sent. Its size is told before. */
export const packDirectory = async (call: Call, directory: string) => {
  const root = isAbsolute(directory) ? directory : resolve(call.cwd, directory);
  const tree = await walkSource(root);
  if (tree.files === 0)
    throw localError(`${root} holds no file to deploy`, 'give the directory that holds the source; see .serviceignore');
  const size = `${count(tree.files, 'file')}, ${bytes(tree.bytes)}`;
  call.note(`packing ${root}: ${size}`);
  call.progress.report(`packing ${size}`, 0);
  await requireFits(tree);
  return { contentType: 'application/gzip', open: () => packSource(tree, () => undefined) };
};

/** The limit counts packed bytes: larger sources are packed once on trial, so that a refusal comes before the upload. */
const requireFits = async (tree: SourceTree): Promise<void> => {
  if (tree.bytes <= LIMIT || (await packedSize(tree, LIMIT)) <= LIMIT) return;
  const largest = largestFolders(tree, 5).map((folder) => `${folder.path} ${bytes(folder.bytes)}`);
  throw new CliFailure({
    code: 'SOURCE_TOO_LARGE',
    message: `the source has ${bytes(tree.bytes)} and is above ${bytes(LIMIT)} when packed; largest: ${largest.join(', ')}`,
    hint: 'exclude artifacts and data: one path prefix a line in .serviceignore',
    retryable: false,
  });
};
