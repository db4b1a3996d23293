import type { CommitAction, Git, PushOutcome, WrittenCommit } from '#engines/git/port';
import type { Clock } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { type BerthError, invalidInput, toBerthError } from '#kernel/errors';
import { dryRun, type DryRun } from '#kernel/schema';
import type { Accepted } from '#modules/operations';
import type { CommitFiles, CommittedFiles, FileChangeBody } from './content-model.ts';
import { commitView } from './content-view.ts';
import type { RepoPath, Repos } from './service.ts';
import type { RepoRow } from './store.ts';

/** Committing without git. */
export interface CommitVerbs {
  /** One commit of all files, or none. What it deploys is under way when this resolves. */
  commitFiles(ctx: Ctx, path: RepoPath, body: CommitFiles): Promise<CommittedFiles | DryRun>;
}

export interface CommitDeps {
  clock: Clock;
  git: Pick<Git, 'resolve' | 'commit' | 'writeCommit'>;
  repos: Pick<Repos, 'requireRepo'>;
  /** Throws what a push would be refused with: a mirror, a full repository, a project that is going away. */
  admitPush: (ctx: Ctx, path: RepoPath) => unknown;
  /** Who the caller is to git. */
  identityOf: (ctx: Ctx) => { name: string; email: string };
  /** Called when the first branch of a repository was made, which is its default one now. */
  onFirstBranch: (repo: RepoRow, branch: string) => void;
  /** What follows a push: the event, and deploys. */
  react: (
    ctx: Ctx,
    repo: RepoRow,
    outcome: PushOutcome,
  ) => Promise<{ begun: { service: string; operation: Accepted | null; error: BerthError | null }[] }>;
}

const ZERO = '0'.repeat(40);

export const createCommitVerbs = (deps: CommitDeps): CommitVerbs => {
  const { git, repos } = deps;

  const write = async (ctx: Ctx, row: RepoRow, body: CommitFiles): Promise<WrittenCommit | undefined> => {
    const { from, expected_head: expectedHead } = body;
    return git.writeCommit(row.id, {
      branch: body.branch ?? row.default_branch,
      message: body.message,
      author: deps.identityOf(ctx),
      at: deps.clock.now(),
      actions: body.files.flatMap((file, index) => actionsOf(file, `body.files[${index}]`)),
      dryRun: ctx.dryRun,
      ...(from === undefined ? {} : { from: await git.resolve(row.id, from) }),
      ...(expectedHead === undefined ? {} : { expectedHead }),
    });
  };

  /** What the branch has already; for a branch that is not there, what it would begin with. */
  const unchanged = async (row: RepoRow, branch: string, from: string | undefined): Promise<CommittedFiles> => {
    const before = await git.resolve(row.id, `refs/heads/${branch}`).catch((thrown: unknown) => {
      if (toBerthError(thrown).kind === 'NOT_FOUND') return null;
      throw thrown;
    });
    const commit = commitView(await git.commit(row.id, before ?? from ?? 'HEAD'));
    return { branch, changed: false, before, commit, deploys: [] };
  };

  return {
    commitFiles: async (ctx, path, body) => {
      const row = repos.requireRepo(ctx, path);
      deps.admitPush(ctx, path);
      const branch = body.branch ?? row.default_branch;
      const written = await write(ctx, row, body);
      if (ctx.dryRun) return plan(branch, body.files);
      if (written === undefined) return unchanged(row, branch, body.from);
      const { id, before, firstBranch } = written;
      if (firstBranch) deps.onFirstBranch(row, branch);
      const update = { ref: `refs/heads/${branch}`, before: before ?? ZERO, after: id, refused: null };
      const options = body.deploy === false ? ['skip-deploy'] : [];
      const { begun } = await deps.react(ctx, row, { updates: [update], options });
      return {
        branch,
        changed: true,
        before,
        commit: commitView(await git.commit(row.id, id)),
        deploys: begun.map(({ service, operation, error }) => ({
          service,
          operation_id: operation?.operation_id ?? null,
          stream_url: operation?.stream_url ?? null,
          service_url: operation?.service_url ?? null,
          error: error?.toBody() ?? null,
        })),
      };
    },
  };
};

const plan = (branch: string, files: readonly FileChangeBody[]): DryRun =>
  dryRun(
    `commit ${files.length} ${files.length === 1 ? 'file' : 'files'} to branch ${branch}`,
    files.map((file) => ({
      action: file.delete === true ? 'delete' : file.move_from === undefined ? 'write' : 'move',
      resource: 'file',
      name: file.path,
      ...(file.move_from === undefined ? {} : { move_from: file.move_from }),
    })),
  );

/** `where`: the field, for errors. */
const actionsOf = (file: FileChangeBody, where: string): CommitAction[] => {
  const { path, content, executable, move_from: from } = file;
  if (file.encoding !== undefined && content === undefined)
    throw invalidInput(`${where}.encoding has no content to go with`, 'give content, or leave encoding out');
  if (file.delete === true) {
    if (content !== undefined || executable !== undefined || from !== undefined)
      throw invalidInput(`${where} is deleted and changed at once`, 'give path and delete alone');
    return [{ action: 'delete', path }];
  }
  const actions: CommitAction[] = [];
  if (from !== undefined) actions.push({ action: 'move', from, path });
  if (content !== undefined)
    actions.push({
      action: 'write',
      path,
      content: decode(content, file.encoding ?? 'utf-8', `${where}.content`),
      ...(executable === undefined ? {} : { executable }),
    });
  else if (executable !== undefined) actions.push({ action: 'mode', path, executable });
  if (actions.length === 0)
    throw invalidInput(`${where} says nothing but a path`, 'give content, delete, move_from or executable');
  return actions;
};

const decode = (content: string, encoding: 'utf-8' | 'base64', where: string): Uint8Array => {
  if (encoding === 'base64') {
    const bytes = Buffer.from(content, 'base64');
    if (bytes.toString('base64').replace(/=+$/, '') === content.replace(/=+$/, '')) return bytes;
    throw invalidInput(`${where} is not valid base64`, 'encode the bytes of the file as base64 without line breaks');
  }
  if (content.isWellFormed()) return Buffer.from(content);
  throw invalidInput(`${where} is not valid Unicode`, 'send binary files with encoding base64');
};
