import { join } from 'node:path';
import { createDeployCommit, type DeployCommitDeps } from '#deploy/index';
import { createGit } from '#engines/git/index';
import type { Git } from '#engines/git/port';
import { createOutgoing } from '#engines/outgoing/index';
import type { Outgoing } from '#engines/outgoing/port';
import type { Config } from '#kernel/config';
import { systemCtx } from '#kernel/ctx';
import {
  createCommitVerbs,
  createContents,
  createRepos,
  createRepoStore,
  gitIdentity,
  type CommitVerbs,
  type Contents,
  type GitHttp,
  type Repos,
  type RepoStore,
} from '#modules/repos';
import type { Operations } from '#modules/operations';
import type { Services } from '#modules/services';
import { createGitHttp } from '#repos/git-http';
import { createMirrors } from '#repos/mirrors';
import type { Polls } from '#repos/poll';
import { createPushes, type Pushes } from '#repos/push';
import { runRepoUpkeep } from '#repos/upkeep';
import type { Base } from './base.ts';

type Seal = Parameters<typeof createRepoStore>[1];

export interface RepoAssembly {
  git: Git;
  store: RepoStore;
  repos: Repos;
  outgoing: Outgoing;
}

export type RepoAssemblyDeps = Base &
  Pick<Parameters<typeof createRepos>[0], 'events' | 'onMirror' | 'requireActive' | 'requireExists'> & { vault: Seal };

/** The module of repositories, on git. */
export const assembleRepos = (deps: RepoAssemblyDeps): RepoAssembly => {
  const { config, clock, log, db } = deps;
  const store = createRepoStore(db, deps.vault);
  const git: Git = createGit({ dir: join(config.dataDir, 'repos'), clock, log });
  const outgoing = createOutgoing({ clock, allow: config.mirrorAllow, networkPool: config.networkPool });
  const repos = createRepos({
    ...deps,
    store,
    git,
    checkMirror: (url) => void outgoing.checkUrl(url),
    onMirror: deps.onMirror,
  });
  return { git, store, repos, outgoing };
};

export interface PushAssemblyDeps extends DeployCommitDeps, RepoAssembly {
  config: Config;
  queue: Operations;
  serviceVerbs: Pick<Services, 'deleteService'>;
  requireActive: (project: string) => void;
}

export interface PushAssembly {
  pushes: Pushes;
  gitHttp: GitHttp;
  contents: Contents;
  commitVerbs: CommitVerbs;
  mirrors: Polls;
  /** Until the signal aborts. */
  upkeep(signal: AbortSignal): Promise<void>;
}

/** What pushes bring about, on the pipeline of deploys. */
export const assemblePushes = (deps: PushAssemblyDeps): PushAssembly => {
  const { clock, log, git, store, events, repos } = deps;
  const pushes = createPushes({
    clock,
    log,
    git,
    store,
    events,
    operations: deps.queue,
    services: deps.serviceVerbs,
    deployCommit: createDeployCommit(deps),
  });
  const mirrors = createMirrors({ ...deps, pushes });
  const gitHttp = createGitHttp({ config: deps.config, repos, pushes, requireActive: deps.requireActive });
  return {
    pushes,
    mirrors,
    gitHttp,
    contents: createContents({ git, repos }),
    commitVerbs: createCommitVerbs({
      clock,
      git,
      repos,
      admitPush: gitHttp.admitPush,
      identityOf: ({ actor }) => gitIdentity(actor.principal),
      onFirstBranch: (repo, branch) => store.update(repo.id, { default_branch: branch, updated_at: clock.now() }),
      react: pushes.react,
    }),
    upkeep: async (signal) => {
      await pushes.recover(systemCtx(deps.newId('req')));
      await Promise.all([runRepoUpkeep({ clock, log, git, store }, signal), mirrors.run(signal)]);
    },
  };
};
