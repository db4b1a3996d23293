import type { Clock } from '#kernel/clock';
import type { Log } from '#kernel/log';
import { createContents } from './contents.ts';
import type { GitDeps } from './deps.ts';
import { createMaintain } from './maintain.ts';
import { createMirror } from './mirror.ts';
import { createPlaces } from './places.ts';
import type { Git } from './port.ts';
import { createReceive } from './receive.ts';
import { createRepositories } from './repositories.ts';
import { createRunGit } from './run.ts';
import { createSmartHttp } from './smart-http.ts';

export interface CreateGit {
  /** Where repositories are kept, each at `<id>.git`. */
  dir: string;
  clock: Clock;
  log: Log;
  /** Path of git; the one on berth's PATH by default. */
  git?: string;
  /** Milliseconds after which a client that sends or takes nothing counts as gone. */
  idleMs?: number;
}

const IDLE_MS = 120_000;

/** Git repositories by git's own programs. */
export const createGit = ({ dir, clock, log, git = Bun.which('git') ?? 'git', idleMs = IDLE_MS }: CreateGit): Git => {
  const places = createPlaces(dir);
  const deps: GitDeps = { git: createRunGit({ places, clock, git }), places, clock, log };
  return {
    ...createRepositories(deps),
    ...createSmartHttp({ ...deps, idleMs }),
    ...createReceive({ ...deps, idleMs }),
    ...createMaintain(deps),
    mirror: createMirror(deps),
    ...createContents(deps),
  };
};
