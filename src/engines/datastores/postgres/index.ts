import type { Clock } from '#kernel/clock';
import type { Log } from '#kernel/log';
import type { Labels, Runtime } from '#engines/runtime/port';
import type { DatastoreEngine, Jobs, Scratch } from '../port.ts';
import { connect } from './connect.ts';
import { createPostgresConsole } from './console.ts';
import { createPostgresCore } from './core.ts';
import { createPostgresDumps } from './dumps.ts';
import type { Keeper } from './keeper.ts';
import { createPostgresRelay } from './relay.ts';

export interface PostgresEngineDeps {
  runtime: Runtime;
  clock: Clock;
  log: Log;
  jobs: Jobs;
  scratch: Scratch;
  /** Directory of berth's own for prepared data directories. */
  templateDir: string;
  /** Of containers that make those. */
  templateLabels: Labels;
}

/** PostgreSQL as the official image runs it. `close` ends connections that are kept warm for consoles. */
export const createPostgresEngine = (
  given: PostgresEngineDeps,
): DatastoreEngine & { keeper: Keeper; close(): void } => {
  const deps = { ...given, connect };
  const { query, browse, close } = createPostgresConsole(deps);
  return {
    ...createPostgresCore(deps),
    ...createPostgresDumps(deps),
    query,
    browse,
    relay: createPostgresRelay(deps),
    close,
  };
};
