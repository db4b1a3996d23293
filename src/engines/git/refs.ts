import type { GitDeps } from './deps.ts';
import { timeOf } from './commit-reader.ts';
import type { ObjectId, Ref, RepoId } from './port.ts';
import { readLines } from './stream.ts';

/**
 * A page of refs in the order of their names' bytes. Names come first and without a look at objects, which repositories
 * with very many refs would pay for on each page.
 */
export const listRefs = async (
  deps: GitDeps,
  repo: RepoId,
  { limit, after, prefix = '' }: { limit: number; after: string | undefined; prefix?: string },
): Promise<Ref[]> => {
  const page = await namesOf(deps, repo, { limit, after, prefix });
  const commits = await peelAll(deps, repo, page);
  const dates = await datesOf(deps, repo, [...new Set(commits.values())]);
  return page.map(({ name, target }) => {
    const commit = commits.get(target) ?? null;
    return {
      name,
      kind: kindOf(name),
      target,
      commit,
      committed_at: commit === null ? null : (dates.get(commit) ?? null),
    };
  });
};

interface Named {
  name: string;
  target: ObjectId;
}

const namesOf = async (
  deps: GitDeps,
  repo: RepoId,
  { limit, after, prefix }: { limit: number; after: string | undefined; prefix: string },
): Promise<Named[]> => {
  const page: Named[] = [];
  const from = after === undefined ? undefined : Buffer.from(after);
  const folder = ['refs/heads/', 'refs/tags/'].filter((start) => prefix.startsWith(start));
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...folder];
  await readLines(deps, { args, repo }, (line) => {
    const space = line.indexOf(' ');
    const name = line.toString('utf8', space + 1);
    if (name.startsWith(prefix) && (from === undefined || Buffer.compare(Buffer.from(name), from) > 0))
      page.push({ name, target: line.toString('latin1', 0, space) });
    return page.length < limit;
  });
  return page;
};

/** Commits by what leads to them; what leads to none is left out. */
const peelAll = async ({ git }: GitDeps, repo: RepoId, refs: readonly Named[]): Promise<Map<ObjectId, ObjectId>> => {
  const targets = [...new Set(refs.map(({ target }) => target))];
  if (targets.length === 0) return new Map();
  const input = targets.map((target) => `${target}^{}\n`).join('');
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype)'];
  const lines = (await git.text({ args, repo, input })).split('\n');
  const commits = new Map<ObjectId, ObjectId>();
  targets.forEach((target, index) => {
    const [id, type] = lines[index]?.split(' ') ?? [];
    if (type === 'commit' && id !== undefined) commits.set(target, id);
  });
  return commits;
};

const datesOf = async (
  { git }: GitDeps,
  repo: RepoId,
  commits: readonly ObjectId[],
): Promise<Map<ObjectId, string>> => {
  if (commits.length === 0) return new Map();
  const args = ['log', '--no-walk=unsorted', '--stdin', '--date=raw', '--format=%H %cd'];
  const text = await git.text({ args, repo, input: `${commits.join('\n')}\n` });
  const dates = new Map<ObjectId, string>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    if (space > 0) dates.set(line.slice(0, space), timeOf(line.slice(space + 1)));
  }
  return dates;
};

const kindOf = (name: string): Ref['kind'] =>
  name.startsWith('refs/heads/') ? 'branch' : name.startsWith('refs/tags/') ? 'tag' : 'other';
