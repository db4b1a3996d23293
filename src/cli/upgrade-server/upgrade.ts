import { rmSync } from 'node:fs';
import { join } from 'node:path';
import semver from 'semver';
import { messageOf } from '#kernel/errors';
import { sha256OfFile } from '#kernel/executable-file';
import { acquireLock, isAlive, ownHolder } from '#kernel/lock';
import { exchangeExecutable, putBack, stageExecutable } from '#src/upgrade/executable.ts';
import { passGate, readRoutes } from '#src/upgrade/gate.ts';
import { beginTrial, decide, dropTrial, readRecord, readTrial, type Trial } from '#src/upgrade/journal.ts';
import { interrupted, localError } from '../failure.ts';
import { VERSION } from '../version.ts';
import { bringBack } from './bring-back.ts';
import { databaseSchema, preflight, type Checked } from './preflight.ts';
import { findServer, pidOf, type ServerProcess } from './process.ts';

export interface UpgradeRequest {
  dataDir: string;
  /** The new executable. */
  file: string;
  /** Only checks. */
  checkOnly: boolean;
  /** Although it is older than what runs. */
  downgrade: boolean;
  gate: Trial['gate'];
  now: number;
  signal: AbortSignal;
  note: (text: string) => void;
}

export interface Upgraded {
  changed: boolean;
  from: string;
  to: string;
  schema: { before: number; after: number };
  /** Where the executable lies. */
  executable: string;
  /** Where the former executable is kept. */
  previous: string;
}

/** Exchanges the executable of a running server. It ends with a server that is well: the new one, or the former one and an error. */
export const upgradeServer = async (request: UpgradeRequest): Promise<Upgraded> => {
  const { dataDir } = request;
  const lock = acquireLock(join(dataDir, 'upgrade.lock'));
  try {
    await clearStale(dataDir);
    const server = findServer(dataDir);
    const staged = `${server.executable}.new`;
    try {
      return await withStaged(request, server, staged);
    } finally {
      rmSync(staged, { force: true });
    }
  } finally {
    lock.release();
  }
};

const withStaged = async (request: UpgradeRequest, server: ServerProcess, staged: string): Promise<Upgraded> => {
  const { note } = request;
  const before = databaseSchema(request.dataDir);
  stageExecutable(request.file, staged);
  const [fromSum, toSum] = await Promise.all([sha256OfFile(`/proc/${server.pid}/exe`), sha256OfFile(staged)]);
  note('trying the new executable on a copy of the state');
  const checked = await preflight(staged, server, request.dataDir);
  const running = await healthOf(checked.listen);
  const result = {
    from: running.version,
    to: checked.version,
    schema: { before, after: checked.database },
    executable: server.executable,
    previous: `${server.executable}.previous`,
  };
  if (fromSum === toSum) return { changed: false, ...result };
  requireNewer(running.version, checked.version, request.downgrade);
  const routes = await readRoutes(checked.proxyApiPort);
  if (request.checkOnly) return { changed: false, ...result };
  if (request.signal.aborted) throw interrupted('interrupted: nothing was changed', 'run it again');
  const trial: Trial = {
    format: 1,
    from: { version: running.version, schema: before, sha256: fromSum },
    to: { version: checked.version, schema: checked.database, sha256: toSum },
    executable: server.executable,
    previous: result.previous,
    schemaBefore: before,
    routes,
    attempts: 0,
    judge: ownHolder(),
    gate: request.gate,
    startedAt: new Date(request.now).toISOString(),
  };
  beginTrial(request.dataDir, trial);
  await exchange(server, trial, staged);
  note(`restarting the server with ${checked.version}; the apps go on serving`);
  const wrong = await judge(request, server, checked, trial);
  if (wrong === undefined) return { changed: true, ...result };
  note(`the new version is not well (${wrong}): going back`);
  await bringBack(request.dataDir, server, trial, checked.listen);
  throw localError(
    `berth ${checked.version} was not well: ${wrong}`,
    `${running.version} runs again with all of its state; the server's log says more (journalctl -u berth)`,
  );
};

/** In the place where the server starts from; its former file stays beside. */
const exchange = async (server: ServerProcess, trial: Trial, staged: string): Promise<void> => {
  // Somebody may have put another file there since the server started: what runs is what has to be kept.
  if ((await sha256OfFile(trial.executable)) !== trial.from.sha256)
    stageExecutable(`/proc/${server.pid}/exe`, trial.executable);
  exchangeExecutable(staged, trial.executable, trial.previous);
  process.kill(server.pid, 'SIGUSR2');
};

/** Undefined once the new server is confirmed; else why it has to go, with that verdict written down. */
const judge = async (
  { dataDir, gate }: UpgradeRequest,
  server: ServerProcess,
  checked: Checked,
  trial: Trial,
): Promise<string | undefined> => {
  const decided = (): string | undefined => readRecord(dataDir, 'reverting')?.reason ?? undefined;
  const ended = (): string | undefined =>
    pidOf(dataDir) === undefined && !alive(server.pid) ? 'its process ended' : decided();
  let wrong = await untilStarted(dataDir, gate.timeoutMs, ended);
  wrong ??= await passGate({ ...checked, expected: trial.to, routes: trial.routes, ...gate, gaveUp: ended });
  if (wrong === undefined ? decide(dataDir, 'confirmed') : decide(dataDir, 'reverting', wrong)) return wrong;
  if (readRecord(dataDir, 'confirmed') !== undefined) return undefined;
  return decided() ?? wrong ?? 'it was reverted meanwhile';
};

/** Until the new executable has said, in the journal, that it starts. */
const untilStarted = async (
  dataDir: string,
  timeoutMs: number,
  ended: () => string | undefined,
): Promise<string | undefined> => {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    if ((readTrial(dataDir)?.trial.attempts ?? 1) > 0) return undefined;
    const why = ended();
    if (why !== undefined) return why;
    await Bun.sleep(50);
  }
  return `it did not start within ${timeoutMs / 1000} s`;
};

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    // No such process.
    return false;
  }
};

/** What an upgrader that was killed has left. */
const clearStale = async (dataDir: string): Promise<void> => {
  const found = readTrial(dataDir);
  if (found === undefined) return;
  const { trial, state } = found;
  if (state === 'trial' && trial.attempts === 0 && !isAlive(trial.judge)) {
    await putBack(trial.executable, trial.previous, trial.from.sha256);
    dropTrial(dataDir);
    return;
  }
  throw localError(
    `an upgrade to ${trial.to.version} is under way since ${trial.startedAt}`,
    'the server ends it by itself, one way or the other: wait a minute, then look at berth version and at its log',
  );
};

const requireNewer = (from: string, to: string, downgrade: boolean): void => {
  if (downgrade || semver.gte(to, from)) return;
  throw localError(
    `${to} is older than ${from}, which runs`,
    'with the same schema of the state an older version can run: add --downgrade',
  );
};

const healthOf = async (listen: string): Promise<{ version: string }> => {
  const hint =
    'nothing was changed; bring the server in order first (berth doctor), so that the new version can be judged';
  let health: { status?: string; version?: string };
  try {
    health = (await (
      await fetch(`http://${listen}/v1/health`, { signal: AbortSignal.timeout(10_000) })
    ).json()) as typeof health;
  } catch (thrown) {
    throw localError(`the server does not answer at ${listen}: ${messageOf(thrown)}`, hint, thrown);
  }
  if (health.status !== 'ok') throw localError(`the server's health is ${health.status}`, hint);
  return { version: health.version ?? VERSION };
};
