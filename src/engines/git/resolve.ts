import { invalidInput, notFound, type BerthError } from '#kernel/errors';
import type { GitDeps } from './deps.ts';
import { isAbbreviatedId, isFullId, requireRefName } from './names.ts';
import type { ObjectId, RepoId } from './port.ts';
import { readLines } from './stream.ts';

/**
 * What a name means, in this order: a complete commit id; a full ref (`refs/…`); a branch; a tag; a ref without its `refs/`
 * (`heads/main`, `tags/v1`); the beginning of a commit id. `HEAD` and undefined are the default branch.
 */
export const resolve = async (deps: GitDeps, repo: RepoId, ref: string | undefined): Promise<ObjectId> => {
  if (ref === undefined || ref === 'HEAD') return (await headOf(deps, repo)) ?? (await explainNoHead(deps, repo));
  if (isFullId(ref.toLowerCase())) return requireCommit(deps, repo, { name: ref, id: ref.toLowerCase() });
  const name = requireRefName(ref);
  const candidates = name.startsWith('refs/') ? [name] : [`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`];
  const found = await findRefs(deps, repo, candidates);
  const id = candidates.map((candidate) => found.get(candidate)).find((target) => target !== undefined);
  if (id !== undefined) return requireCommit(deps, repo, { name, id });
  if (isAbbreviatedId(name)) return requireCommit(deps, repo, { name, id: name.toLowerCase() });
  throw await explainMissing(deps, repo, name);
};

/** What HEAD points at, or undefined while its branch has no commit. */
export const headOf = async (deps: GitDeps, repo: RepoId): Promise<ObjectId | undefined> => {
  const { id } = await peel(deps, repo, 'HEAD');
  return id;
};

/** Targets of those of the refs that exist. */
export const findRefs = async (
  deps: GitDeps,
  repo: RepoId,
  names: readonly string[],
): Promise<Map<string, ObjectId>> => {
  const found = new Map<string, ObjectId>();
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...names];
  await readLines(deps, { args, repo }, (line) => {
    const text = line.toString('utf8');
    const space = text.indexOf(' ');
    const name = text.slice(space + 1);
    // A name matches what is below it too.
    if (names.includes(name)) found.set(name, text.slice(0, space));
    return found.size < names.length;
  });
  return found;
};

interface Peeled {
  id?: ObjectId;
  fault?: 'missing' | 'ambiguous' | 'no commit';
}

/** `name`: HEAD or hex digits, which git reads as nothing but that. */
const peel = async ({ git }: GitDeps, repo: RepoId, name: string): Promise<Peeled> => {
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype)'];
  const reply = await git.text({ args, repo, input: `${name}^{commit}\n${name}\n` });
  const [commit = '', object = ''] = reply.split('\n');
  const id = /^([0-9a-f]+) commit$/.exec(commit)?.[1];
  if (id !== undefined) return { id };
  if (object.endsWith(' ambiguous')) return { fault: 'ambiguous' };
  return { fault: object.endsWith(' missing') ? 'missing' : 'no commit' };
};

const requireCommit = async (
  deps: GitDeps,
  repo: RepoId,
  { name, id: given }: { name: string; id: string },
): Promise<ObjectId> => {
  const { id, fault } = await peel(deps, repo, given);
  if (id !== undefined) return id;
  if (fault === 'ambiguous')
    throw invalidInput(`several commits begin with "${name}"`, 'give more digits of the commit id');
  if (fault === 'no commit')
    throw notFound(`"${name}" leads to no commit`, 'give a branch, or a tag or id of a commit');
  throw await explainMissing(deps, repo, name);
};

const explainMissing = async (deps: GitDeps, repo: RepoId, name: string): Promise<BerthError> => {
  if (await isEmpty(deps, repo)) return emptyRepo();
  return notFound(
    `no branch, tag or commit "${name}" in this repository`,
    'list its branches and tags, and give one of them',
  );
};

const explainNoHead = async (deps: GitDeps, repo: RepoId): Promise<never> => {
  if (await isEmpty(deps, repo)) throw emptyRepo();
  const branch = (await deps.git.text({ args: ['symbolic-ref', 'HEAD'], repo })).trim().replace(/^refs\/heads\//, '');
  throw notFound(
    `the default branch "${branch}" has no commits`,
    'push to it, give a branch that has some, or make another branch the default one',
  );
};

const isEmpty = async ({ git }: GitDeps, repo: RepoId): Promise<boolean> =>
  (await git.text({ args: ['for-each-ref', '--count=1', '--format=x'], repo })) === '';

export const emptyRepo = (): BerthError =>
  notFound(
    'the repository is empty',
    'push to its clone_url (git push <clone_url> HEAD:main), or commit its first files',
  );
