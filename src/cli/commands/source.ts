import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { localError } from '../failure.ts';
import { bytes, count } from '../output/format.ts';
import { createProgress } from '../output/progress.ts';
import type { SourceTree } from '../pack/walk.ts';

export interface Upload {
  stream: { contentType: string; open: () => ReadableStream<Uint8Array> };
  end(): void;
}

/** Lists the source, and refuses what the server would refuse, before a byte is sent. */
export const prepareSource = async (context: Context, folder: string): Promise<SourceTree> => {
  const { walkSource } = await import('../pack/walk.ts');
  const tree = await walkSource(folder);
  for (const path of tree.skipped) context.out.warn(`${path} is left out: it is no file, directory or link`);
  if (tree.files === 0)
    throw localError(
      `${folder} holds no file to deploy`,
      'give the directory that holds the source; see .serviceignore',
    );
  checkReadable(tree);
  const { requireFits } = await import('../pack/limit.ts');
  await requireFits(tree, (note) => context.out.note(note));
  return tree;
};

/** A file that cannot be read would break the upload off in its middle. */
const checkReadable = ({ root, entries }: SourceTree): void => {
  const closed = entries.filter(({ type, path }) => type === 'file' && !isReadable(join(root, path)));
  const [first] = closed;
  if (first === undefined) return;
  const more = closed.length === 1 ? '' : `, and ${count(closed.length - 1, 'more file')}`;
  throw localError(
    `cannot read ${first.path}${more}: permission denied`,
    `make it readable, or exclude it: add a line "${first.path}" to .serviceignore`,
  );
};

const isReadable = (file: string): boolean => {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
};

/** The upload with its progress bar. Each attempt packs again, from the start. */
export const createUpload = async (context: Context, tree: SourceTree): Promise<Upload> => {
  const { packSource } = await import('../pack/pack.ts');
  const { out, io } = context;
  out.note(`packing ${count(tree.files, 'file')}, ${bytes(tree.bytes)}`);
  const silent = { write: () => undefined, isTTY: false, columns: 80 };
  let progress = createProgress(silent, '', 0);
  const open = (): ReadableStream<Uint8Array> => {
    progress.end();
    // A bar is drawn over itself, which a dumb terminal cannot do.
    progress = createProgress(out.json || io.env['TERM'] === 'dumb' ? silent : io.stderr, 'uploading', tree.bytes);
    return packSource(tree, (sent) => progress.add(sent));
  };
  return { stream: { contentType: 'application/gzip', open }, end: () => progress.end() };
};
