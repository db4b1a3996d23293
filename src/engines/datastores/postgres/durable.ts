import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a file that appears with all of its content or not at all, and that a power cut does not take back. */
export const writeDurably = async (file: string, write: (handle: FileHandle) => Promise<void>): Promise<void> => {
  const unfinished = `${file}.unfinished`;
  const handle = await open(unfinished, 'w', 0o600);
  try {
    await write(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  const directory = await open(dirname(file), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};
