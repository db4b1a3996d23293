import { isAbsolute, resolve } from 'node:path';
import { localError } from '#cli/failure';
import { bytes, count } from '#cli/output/format';
import { requireFits } from '#cli/pack/limit';
import { packSource } from '#cli/pack/pack';
import { walkSource } from '#cli/pack/walk';
import type { Call } from './tool.ts';

/** A directory of this machine as the upload of a deploy, made while it is sent. Its size is told before. */
export const packDirectory = async (call: Call, directory: string) => {
  const root = isAbsolute(directory) ? directory : resolve(call.cwd, directory);
  const tree = await walkSource(root);
  if (tree.files === 0)
    throw localError(`${root} holds no file to deploy`, 'give the directory that holds the source; see .serviceignore');
  const size = `${count(tree.files, 'file')}, ${bytes(tree.bytes)}`;
  call.note(`packing ${root}: ${size}`);
  call.progress.report(`packing ${size}`, 0);
  await requireFits(tree, (note) => call.note(note));
  return { contentType: 'application/gzip', open: () => packSource(tree, () => undefined) };
};
