import type { Git, PushOutcome, PushSink, RefUpdate } from '#engines/git/port';
import type { DeployCommit } from '#deploy/index';
import type { Clock } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { toBerthError, type BerthError } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { Events } from '#modules/events';
import type { Accepted, Operations } from '#modules/operations';
import type { RepoRow, RepoStore } from '#modules/repos';
import type { Services } from '#modules/services';
import { followLines, failureLines } from './progress.ts';
import { HEADS, isZero, planPush, type PushAction } from './plan.ts';

export interface PushDeps {
  clock: Clock;
  log: Log;
  git: Git;
  store: RepoStore;
  events: Pick<Events, 'emit'>;
  operations: Operations;
  services: Pick<Services, 'deleteService'>;
  deployCommit: DeployCommit;
}

/** A deploy that a push has begun, or why it could not. */
export interface Begun {
  service: string;
  branch: string;
  commit: string;
  operation: Accepted | null;
  error: BerthError | null;
}

/** What follows when the refs of a repository have moved, whoever moved them. */
export interface Pushes {
  /** Notes the change, and begins the deploys that it asks for. Never throws for a deploy that cannot begin. */
  react(ctx: Ctx, repo: RepoRow, outcome: PushOutcome): Promise<{ begun: Begun[]; lines: string[] }>;
  /** Does what a push wanted whose process ended between the update of the refs and this. */
  recover(ctx: Ctx): Promise<void>;
  /** The same with words for `git push`, followed to the end of each deploy. */
  sink(ctx: Ctx, repo: RepoRow): PushSink;
}

export const createPushes = (deps: PushDeps): Pushes => {
  const { store, git } = deps;

  const note = async (ctx: Ctx, repo: RepoRow, updates: readonly RefUpdate[]): Promise<void> => {
    const done = updates.filter((update) => update.refused === null);
    if (done.length === 0) return;
    for (const { ref, before, after } of done) {
      deps.events.emit({
        project: repo.project,
        kind: 'repo.pushed',
        actor: ctx.actor.principal,
        data: { repo: repo.name, ref, before: isZero(before) ? null : before, after: isZero(after) ? null : after },
      });
    }
    store.update(repo.id, { pushed_at: deps.clock.now(), size_bytes: await git.sizeBytes(repo.id) });
  };

  const deploy = async (ctx: Ctx, repo: RepoRow, action: Extract<PushAction, { kind: 'deploy' }>): Promise<Begun> => {
    const { service, branch, commit } = action;
    const facts = { service, branch, commit };
    try {
      const operation = await deps.deployCommit(ctx, {
        project: repo.project,
        service,
        commit,
        repo: { id: repo.id, name: repo.name, branch },
        open: () =>
          git.archive(repo.id, {
            commit,
            gzip: true,
            signal: AbortSignal.timeout(ARCHIVE_MS),
            ...(repo.root === null ? {} : { root: repo.root }),
          }),
      });
      if (action.preview) store.previews.insert({ repo_id: repo.id, branch, service });
      return { ...facts, operation, error: null };
    } catch (thrown) {
      const error = toBerthError(thrown);
      if (error.kind === 'INTERNAL_ERROR') deps.log.error('a push could not be deployed', thrown, { repo: repo.id });
      deps.events.emit({
        project: repo.project,
        kind: 'deploy.failed',
        actor: ctx.actor.principal,
        data: { service, commit, repo: repo.name, code: error.kind, message: error.message },
      });
      return { ...facts, operation: null, error };
    }
  };

  const remove = (ctx: Ctx, repo: RepoRow, { service, branch }: { service: string; branch: string }): string => {
    store.previews.remove(repo.id, branch);
    try {
      deps.services.deleteService({ ...ctx, dryRun: false }, { project: repo.project, service });
      return `preview ${service} is being deleted with its branch ${branch}`;
    } catch (thrown) {
      return `preview ${service} was not deleted: ${toBerthError(thrown).message}`;
    }
  };

  /** A repository that was empty begins with the branch that came first, whatever it is called. */
  const adoptBranch = async (given: RepoRow, updates: readonly RefUpdate[]): Promise<void> => {
    // Since this push began, another may have come first.
    const repo = store.byId(given.id) ?? given;
    if (repo.pushed_at !== null) return;
    const first = updates
      .find(({ ref, refused }) => refused === null && ref.startsWith(HEADS))
      ?.ref.slice(HEADS.length);
    if (first === undefined || (await tipOf(git, repo, HEADS + repo.default_branch)) !== undefined) return;
    await git.setDefaultBranch(repo.id, first);
    store.update(repo.id, { default_branch: first });
  };

  const react: Pushes['react'] = async (ctx, given, { updates, options }) => {
    await adoptBranch(given, updates);
    await note(ctx, given, updates);
    // Its settings may have changed while the push was under way.
    const repo = store.byId(given.id) ?? given;
    const previews = new Map(store.previews.of(repo.id).map(({ branch, service }) => [branch, service]));
    const begun: Begun[] = [];
    const lines: string[] = [];
    const head = settledHead(repo, updates);
    for (const action of planPush({ repo, updates, options, previews })) {
      if (action.kind === 'say') lines.push(action.line);
      else if (action.kind === 'remove') lines.push(remove(ctx, repo, action));
      else begun.push(await deploy(ctx, repo, action));
    }
    if (head !== undefined) store.update(repo.id, { settled_head: head });
    return { begun, lines };
  };

  return {
    react,
    recover: async (ctx) => {
      for (const repo of store.all()) {
        const missed = await missedUpdate(git, repo);
        if (missed === undefined) continue;
        deps.log.info('deploying what was pushed before berth ended', { project: repo.project, repo: repo.name });
        await react(ctx, repo, { updates: [missed], options: [] });
      }
    },
    sink: (ctx, repo) => ({
      onPushed: async function* onPushed(outcome, listening) {
        const { begun, lines } = await react(ctx, repo, outcome);
        yield* lines;
        const wait = !outcome.options.includes('no-wait');
        for (const { service, branch, commit, operation, error } of begun) {
          yield `deploying ${service} from ${branch} (${commit.slice(0, 8)})`;
          if (error !== null) yield* failureLines(error.toBody());
          if (operation === null) continue;
          yield `operation ${operation.operation_id}`;
          if (wait) yield* followLines(deps.operations, operation, listening);
          else yield `not waiting: berth operations follow ${operation.operation_id}`;
        }
      },
    }),
  };
};

/** Where the deployed branch is after these updates; undefined when they do not touch it. */
const settledHead = (repo: RepoRow, updates: readonly RefUpdate[]): string | null | undefined => {
  const update = updates.findLast(({ ref, refused }) => refused === null && ref === deployRef(repo));
  if (update === undefined) return undefined;
  return isZero(update.after) ? null : update.after;
};

const deployRef = (repo: RepoRow): string => `refs/heads/${repo.deploy_branch ?? repo.default_branch}`;

const missedUpdate = async (git: Git, repo: RepoRow): Promise<RefUpdate | undefined> => {
  if (repo.deploy_service === null || repo.settled_head === null) return undefined;
  const ref = deployRef(repo);
  const tip = await tipOf(git, repo, ref);
  if (tip === undefined || tip === repo.settled_head) return undefined;
  return { ref, before: repo.settled_head, after: tip, refused: null };
};

/** The commit that a full ref names; undefined when there is no such ref. */
const tipOf = async (git: Git, repo: RepoRow, ref: string): Promise<string | undefined> => {
  const [found] = await git.refs(repo.id, { limit: 1, after: undefined, prefix: ref });
  return found?.name === ref ? (found.commit ?? undefined) : undefined;
};

/** For reading one commit out of a repository. */
const ARCHIVE_MS = 600_000;
