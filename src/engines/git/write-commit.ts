import { BerthError, conflict } from '#kernel/errors';
import type { GitDeps } from './deps.ts';
import { startFastImport } from './fast-import.ts';
import { branchRef, identityLine, requireId, requireMessage } from './names.ts';
import { branchMoved, checkActions, pathsOf, planCommit } from './plan-commit.ts';
import type { CommitRequest, Git, ObjectId, RepoId, WrittenCommit } from './port.ts';
import { findRefs, headOf, resolve } from './resolve.ts';
import { GitFailure } from './run.ts';
import { sweep } from './sweep.ts';

/** Rounds against pushes that are faster each time; API commits to one branch wait for each other. */
const ROUNDS = 10;
const NULL_ID = '0'.repeat(40);

export const createWriteCommit = (deps: GitDeps): Git['writeCommit'] => {
  const turns = new Map<string, Promise<unknown>>();
  return (repo, request) => inTurn(turns, `${repo} ${request.branch}`, () => writeCommit(deps, repo, request));
};

const inTurn = <T>(turns: Map<string, Promise<unknown>>, key: string, action: () => Promise<T>): Promise<T> => {
  const before = turns.get(key) ?? Promise.resolve();
  const turn = before.then(action, action);
  const over = turn.then(
    () => undefined,
    () => undefined,
  );
  turns.set(key, over);
  void over.then(() => (turns.get(key) === over ? turns.delete(key) : undefined));
  return turn;
};

interface Checked {
  request: CommitRequest;
  ref: string;
  message: string;
  signature: string;
}

const writeCommit = async (deps: GitDeps, repo: RepoId, request: CommitRequest): Promise<WrittenCommit | undefined> => {
  const seconds = Math.max(0, Math.floor(request.at / 1000));
  const checked: Checked = {
    request,
    ref: branchRef(request.branch),
    message: requireMessage(request.message),
    signature: `${identityLine(request.author)} ${seconds} +0000`,
  };
  checkActions(request.actions);
  if (request.from !== undefined) requireId(request.from, 'the commit to start from');
  if (typeof request.expectedHead === 'string') requireId(request.expectedHead, 'expected_head');
  for (let round = 0; round < ROUNDS; round++) {
    const outcome = await attempt(deps, repo, checked);
    if (outcome !== 'overtaken') return outcome;
  }
  throw conflict(`branch "${request.branch}" is being pushed to all the time`, 'send the commit again', true);
};

const attempt = async (
  deps: GitDeps,
  repo: RepoId,
  checked: Checked,
): Promise<WrittenCommit | undefined | 'overtaken'> => {
  const { request, ref } = checked;
  const before = (await findRefs(deps, repo, [ref])).get(ref) ?? null;
  const { expectedHead } = request;
  if (expectedHead !== undefined && expectedHead !== before) throw branchMoved(request.branch, before, expectedHead);
  const parent = before ?? (await startOf(deps, repo, request.from));
  const id = await store(deps, repo, { ...checked, parent });
  if (id === undefined) return undefined;
  const firstBranch = parent === null && (await adoptBranch(deps, repo, ref));
  const refusal = await moveBranch(deps, repo, { ref, before, after: id });
  if (refusal === undefined) return { id, before, firstBranch };
  const actual = (await findRefs(deps, repo, [ref])).get(ref) ?? null;
  if (expectedHead !== undefined && actual !== before) throw branchMoved(request.branch, actual, expectedHead);
  if (LOCKED.test(refusal.stderr)) {
    // Of a push that is under way, or of one that was killed.
    await sweep(deps.places.existing(repo), deps.clock.now());
    return 'overtaken';
  }
  if (actual !== before) return 'overtaken';
  throw explain(request.branch, refusal);
};

/** Where a new branch starts. */
const startOf = async (deps: GitDeps, repo: RepoId, from: ObjectId | undefined): Promise<ObjectId | null> =>
  from === undefined ? ((await headOf(deps, repo)) ?? null) : resolve(deps, repo, from);

/** The id of the new commit, which nothing points at yet; undefined when it would change nothing. */
const store = async (
  deps: GitDeps,
  repo: RepoId,
  { request, message, signature, parent }: Checked & { parent: ObjectId | null },
): Promise<ObjectId | undefined> => {
  const { actions } = request;
  const fastImport = startFastImport(deps, repo);
  try {
    const base = parent === null ? new Map() : await fastImport.look(parent, pathsOf(actions));
    const steps = planCommit(actions, base);
    if (request.dryRun === true) {
      await fastImport.abandon();
      return undefined;
    }
    const { id, changed } = await fastImport.commit({ parent, signature, message, steps });
    await fastImport.finish();
    return changed ? id : undefined;
  } catch (thrown) {
    await fastImport.abandon();
    throw thrown;
  }
};

/** The first branch of a repository becomes its default one. Whether it is the first. */
const adoptBranch = async ({ git }: GitDeps, repo: RepoId, ref: string): Promise<boolean> => {
  const branches = await git.text({ args: ['for-each-ref', '--count=1', '--format=x', 'refs/heads/'], repo });
  if (branches === '') await git.run({ args: ['symbolic-ref', 'HEAD', ref], repo });
  return branches === '';
};

/** Undefined when it was done. */
const moveBranch = async (
  { git }: GitDeps,
  repo: RepoId,
  { ref, before, after }: { ref: string; before: ObjectId | null; after: ObjectId },
): Promise<GitFailure | undefined> => {
  const input = `update ${ref}\0${after}\0${before ?? NULL_ID}\0`;
  try {
    await git.run({ args: ['update-ref', '--stdin', '-z'], repo, input });
    return undefined;
  } catch (thrown) {
    if (thrown instanceof GitFailure && thrown.code !== 'ENOSPC') return thrown;
    throw thrown;
  }
};

const LOCKED = /\.lock': File exists/;

const explain = (branch: string, refusal: GitFailure): BerthError => {
  const other = /'refs\/heads\/([^\s:]+)' exists; cannot create/.exec(refusal.stderr)?.[1];
  if (other !== undefined)
    return conflict(
      `branch "${branch}" cannot be made beside branch "${other}"`,
      'choose a name that is neither the beginning nor the continuation of it',
    );
  return new BerthError('INTERNAL_ERROR', 'the branch could not be updated', {
    hint: 'retry once; if it persists, look at the server log and report it',
    retryable: true,
    cause: refusal,
  });
};
