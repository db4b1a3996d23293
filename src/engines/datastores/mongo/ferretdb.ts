import type { Clock } from '#kernel/clock';
import { BerthError, messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { Runtime } from '#engines/runtime/port';
import type { DatastoreInstance } from '../port.ts';
import { addressOf, type Connect, loginOf, type Login, withConnection } from '../postgres/connect.ts';
import { containerName } from '../postgres/server.ts';
import { listDatabases } from './documents.ts';
import { MAIN, MONGO_PORT, storageOf } from './spec.ts';
import { openWire, type Wire } from './wire.ts';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
const READY_MS = 60_000;
const CALL_MS = 10_000;
const PING_MS = 2000;
const STOP_SECONDS = 5;
const LOG_LINES = 20;

export interface FerretdbDeps {
  runtime: Pick<Runtime, 'list' | 'inspect' | 'logs' | 'stop' | 'start'>;
  clock: Clock;
  log: Log;
  connect: Connect;
}

/** Opens a connection to FerretDB itself, logged in; `signal` is its life. */
export const openFerretdb = (instance: DatastoreInstance, login: Login, signal: AbortSignal): Promise<Wire> =>
  openWire({ host: addressOf(instance, MAIN), port: MONGO_PORT, signal }, login);

/**
 * Waits until FerretDB answers, and makes sure that it knows all that is stored. It reads the names of databases once, with its
 * first client; when Postgres fails in the middle of that, it goes on with what it has, and the rest looks gone to apps until it
 * is started again (`getPool` in `internal/backends/postgresql/metadata/registry.go` of v1.24.0).
 */
export const settleFerretdb = async (
  deps: FerretdbDeps,
  instance: DatastoreInstance,
  signal: AbortSignal,
): Promise<void> => {
  await waitForFerretdb(deps, instance, signal);
  const missing = await unknownDatabases(deps, instance, signal);
  if (missing.length === 0) return;
  deps.log.warn('FerretDB does not know all databases: it is started again', {
    datastore: instance.id,
    databases: missing.join(', '),
  });
  const container = await findContainer(deps, instance);
  if (container === undefined) throw notRunning(instance);
  await deps.runtime.stop(container.id, STOP_SECONDS);
  await deps.runtime.start(container.id);
  await waitForFerretdb(deps, instance, signal);
  const still = await unknownDatabases(deps, instance, signal);
  if (still.length > 0) throw incomplete(instance, still);
};

/** Whether FerretDB carries out a request of a role right now. Without any database it does so by itself. Never throws. */
export const ferretdbAnswers = async (instance: DatastoreInstance): Promise<boolean> => {
  try {
    const wire = await openFerretdb(instance, loginOf(instance, 'reader'), AbortSignal.timeout(PING_MS));
    wire.close();
    return true;
  } catch {
    return false;
  }
};

const waitForFerretdb = async (deps: FerretdbDeps, instance: DatastoreInstance, signal: AbortSignal): Promise<void> => {
  const until = deps.clock.monotonic() + READY_MS;
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    try {
      const wire = await openFerretdb(
        instance,
        loginOf(instance, 'reader'),
        AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
      );
      wire.close();
      return;
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      if (deps.clock.monotonic() > until) throw await neverAnswered(deps, instance, thrown);
    }
    await deps.clock.sleep(pause, signal);
    pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS);
  }
};

/** Databases that are stored and that FerretDB does not list. */
const unknownDatabases = async (
  { connect }: FerretdbDeps,
  instance: DatastoreInstance,
  signal: AbortSignal,
): Promise<string[]> => {
  // In this order: a database that an app makes meanwhile is one more that FerretDB knows.
  const stored = await withConnection(
    { connect, instance: storageOf(instance), what: 'list the databases', options: { as: 'reader', signal } },
    listDatabases,
  );
  const wire = await openFerretdb(
    instance,
    loginOf(instance, 'reader'),
    AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
  );
  try {
    const { document } = await wire.call({ listDatabases: 1, nameOnly: true, $db: 'admin' });
    const listed: unknown = document['databases'];
    const known = new Set(Array.isArray(listed) ? listed.map((entry: { name?: unknown }) => entry.name) : []);
    return stored.filter((name) => !known.has(name));
  } finally {
    wire.close();
  }
};

const findContainer = async (
  { runtime }: FerretdbDeps,
  instance: DatastoreInstance,
): Promise<{ id: string } | undefined> => {
  const name = containerName({ instance, unit: MAIN });
  return (await runtime.list(instance.labels)).find((container) => container.name === name);
};

const notRunning = ({ name }: DatastoreInstance): BerthError =>
  new BerthError('INTERNAL_ERROR', `${name} has no container of FerretDB`, {
    hint: 'it may be being made anew: send it again in some seconds',
    retryable: true,
  });

const incomplete = ({ name }: DatastoreInstance, missing: readonly string[]): BerthError =>
  new BerthError('INTERNAL_ERROR', `FerretDB of ${name} does not know the databases ${missing.join(', ')}`, {
    hint: 'look at the log of the datastore, then restart it; nothing is lost, they are stored',
    retryable: true,
  });

const neverAnswered = async (deps: FerretdbDeps, instance: DatastoreInstance, cause: unknown): Promise<BerthError> => {
  const container = await findContainer(deps, instance);
  const lines: string[] = [];
  if (container !== undefined) {
    for await (const { line } of deps.runtime.logs(container.id, { follow: false, tail: LOG_LINES })) lines.push(line);
  }
  return new BerthError(
    'INTERNAL_ERROR',
    `FerretDB of ${instance.name} did not answer within ${READY_MS / 1000} s: ${messageOf(cause)}`,
    {
      hint: 'read log_tail: the last lines of its log say why',
      retryable: true,
      logTail: lines.join('\n'),
      cause,
    },
  );
};
