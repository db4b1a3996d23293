import { Readable } from 'node:stream';
import { invalidInput } from '#kernel/errors';
import type { GitDeps } from './deps.ts';
import { requireFolder } from './entries.ts';
import { requirePath } from './names.ts';
import type { Git, RepoId } from './port.ts';
import { resolve } from './resolve.ts';
import { GitFailure, type GitProcess } from './run.ts';

type Query = Parameters<Git['archive']>[1];

/**
 * `git archive`: files with the attribute export-ignore are left out (those of the `.gitattributes` at and below `root`, for
 * git sees no more of the commit). Submodules are empty folders.
 */
export const openArchive = async (deps: GitDeps, repo: RepoId, query: Query): Promise<Readable> => {
  const { root, gzip, prefix, signal } = query;
  const path = root === undefined ? undefined : requirePath(root);
  if (prefix !== undefined) requirePrefix(prefix);
  const commit = await resolve(deps, repo, query.commit);
  const folder = await requireFolder(deps, repo, { commit, path });
  const format = gzip ? ['--format=tar.gz', '-1'] : ['--format=tar'];
  const running = deps.git.start({
    args: ['archive', ...format, ...(prefix === undefined ? [] : [`--prefix=${prefix}`]), folder],
    repo,
    settings: { 'tar.umask': '0022' },
    signal,
  });
  await running.end();
  const tar = Readable.from(bytesOf(running, signal), { objectMode: false });
  // Also when nobody ever read from it.
  tar.once('close', running.kill);
  return tar;
};

/** Ends with an error unless git ended well: a tar that is cut off must not pass for a whole one. */
async function* bytesOf(running: GitProcess, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of running.stdout) yield chunk;
  const end = await running.ended;
  signal.throwIfAborted();
  if (end.code !== 0) throw new GitFailure('archive', end);
}

/** Of a tar that is unpacked elsewhere. */
const requirePrefix = (prefix: string): void => {
  if (!prefix.endsWith('/'))
    throw invalidInput('the prefix does not end with a slash', 'give a folder, such as app-1/');
  requirePath(prefix.slice(0, -1));
};
