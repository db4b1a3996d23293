import { invalidInput } from '#kernel/errors';
import type { GitDeps } from './deps.ts';
import { findEntry, kindOf, noPath } from './entries.ts';
import { requirePath } from './names.ts';
import type { FileContent, Git, ObjectId, RepoId } from './port.ts';
import { resolve } from './resolve.ts';
import { readOut } from './stream.ts';

type Query = Parameters<Git['file']>[1];

/** Bytes in which git itself looks for a NUL before it calls a file binary. */
const LOOKED_AT = 8000;

export const readFile = async (deps: GitDeps, repo: RepoId, query: Query): Promise<FileContent> => {
  const path = requirePath(query.path);
  const commit = await resolve(deps, repo, query.ref);
  const entry = await findEntry(deps, repo, { commit, path });
  if (entry === undefined) throw noPath(path);
  const kind = kindOf(entry.mode);
  if (kind === 'directory' || kind === 'submodule') {
    throw invalidInput(
      `${JSON.stringify(path.slice(0, 200))} is a ${kind}, not a file`,
      kind === 'directory' ? 'list the folder, or read a file in it' : 'what is in it is in another repository',
    );
  }
  const { offset = 0, length } = query;
  const content = await readBlob(deps, repo, { id: entry.id, offset, length });
  return { path, id: entry.id, mode: entry.mode, kind, offset, ...content };
};

/** Streams the blob past: only the range is kept, and git is stopped behind it. */
const readBlob = async (
  deps: GitDeps,
  repo: RepoId,
  { id, offset, length }: { id: ObjectId; offset: number; length: number },
): Promise<Pick<FileContent, 'size' | 'bytes' | 'binary'>> => {
  let header = '';
  let at = 0;
  let size = -1;
  let binary = false;
  const kept: Buffer[] = [];
  await readOut(deps, { args: ['cat-file', '--batch=%(objectsize)'], repo, input: `${id}\n` }, (chunk) => {
    let content = chunk;
    if (size < 0) {
      const end = chunk.indexOf('\n');
      header += chunk.toString('latin1', 0, end === -1 ? chunk.length : end);
      if (end === -1) return header.length < 200;
      size = Number(header);
      content = chunk.subarray(end + 1);
    }
    // Behind the content comes a line feed of git's own.
    content = content.subarray(0, size - at);
    if (at < LOOKED_AT) binary ||= content.subarray(0, LOOKED_AT - at).includes(0);
    const piece = content.subarray(Math.max(offset - at, 0), Math.max(offset + length - at, 0));
    if (piece.length > 0) kept.push(Buffer.from(piece));
    at += content.length;
    return at < Math.min(size, Math.max(offset + length, LOOKED_AT));
  });
  if (!Number.isInteger(size) || size < 0) throw new Error(`git cat-file said ${header.slice(0, 200)}`);
  return { size, bytes: Buffer.concat(kept), binary };
};
