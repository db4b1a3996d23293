import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import { extract, type Header, pack as createPack, type Pack } from 'tar-stream';
import type { PutFile } from '../port.ts';

/** The two empty blocks that end a tar. What comes after them is not read, so nothing can be appended to a whole one. */
export const TRAILER_BYTES = 1024;

/** A tar of files that are all below `root`, relative to it, with the directories between. */
export const archiveOf = async (root: string, files: readonly PutFile[]): Promise<Uint8Array> => {
  const pack = createPack();
  const made = new Set<string>();
  for (const { path, content, uid, gid, mode } of files) {
    const name = posix.relative(root, path);
    for (const directory of directoriesOf(name)) {
      if (!made.has(directory)) pack.entry({ name: directory, type: 'directory', uid, gid, mode: 0o700 });
      made.add(directory);
    }
    pack.entry({ name, uid, gid, mode }, Buffer.from(content));
  }
  pack.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of pack) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
};

/** `a/b/c` → `a`, `a/b`. */
const directoriesOf = (name: string): string[] => {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
};

/** What becomes of an entry: its content, the same or another; undefined to leave it out. */
export type Edit = (name: string, content: Buffer) => Buffer | undefined;

/** The same tar with its files edited. One entry at a time is in memory. */
export async function* edited(tar: Readable, edit: Edit): AsyncGenerator<Uint8Array> {
  const kept = createPack();
  const copying = copyEntries(tar, kept, edit);
  // Told by the loop below; unheard until then, it would end the process.
  copying.catch((thrown: unknown) => kept.destroy(thrown instanceof Error ? thrown : new Error(String(thrown))));
  for await (const chunk of kept) yield chunk as Uint8Array;
  await copying;
}

const copyEntries = async (tar: Readable, kept: Pack, edit: Edit): Promise<void> => {
  const entries = extract();
  tar.on('error', (error) => entries.destroy(error));
  tar.pipe(entries);
  for await (const entry of entries) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of entry) chunks.push(chunk as Uint8Array);
    const content = edit(entry.header.name, Buffer.concat(chunks));
    if (content !== undefined) await put(kept, { ...entry.header, size: content.length }, content);
  }
  kept.finalize();
};

const put = (pack: Pack, header: Header, content: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const done = (error?: Error | null): void => (error ? reject(error) : resolve());
    if (header.type === 'file') pack.entry(header, content, done);
    else pack.entry(header, done);
  });
