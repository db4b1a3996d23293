import type { Clock } from '#kernel/clock';
import type { Log } from '#kernel/log';
import type { Places } from './places.ts';
import type { RunGit } from './run.ts';

/** What the parts of the git engine share. */
export interface GitDeps {
  git: RunGit;
  places: Places;
  clock: Clock;
  log: Log;
}
