import type { Readable } from 'node:stream';
import { BerthError } from '#kernel/errors';
import type { ContainerSpec, Runtime } from '#engines/runtime/port';
import { archiveOf } from './archive.ts';
import {
  CONFIG,
  containerName,
  homeOf,
  imageOf,
  OWN,
  PGDATA,
  type Server,
  serverContainer,
  serverFiles,
} from './server.ts';

const INITDB_MS = 180_000;
const STOP_SECONDS = 30;
const LOG_LINES = 20;

/** Without a volume: the official image declares one in its place, an anonymous one that goes with the container. */
const makerSpec = (server: Server, step: 'initdb' | 'template'): ContainerSpec => ({
  ...serverContainer(server),
  name: `${containerName(server)}-${step}`,
  volumes: [],
  restart: 'no',
});

export const initdbArguments = (pgdata: string, passwordFile: string): string[] => [
  `--pgdata=${pgdata}`,
  '--username=postgres',
  `--pwfile=${passwordFile}`,
  '--auth=scram-sha-256',
  // The collation is the image's own (LANG), as people know it from the official one.
  '--encoding=UTF8',
  '--data-checksums',
  // Whoever starts from the template syncs it.
  '--no-sync',
];

/** Runs `use` on the tar of a data directory as initdb makes it. */
export const withNewCluster = async (
  runtime: Runtime,
  { server, password }: { server: Server; password: string },
  use: (tar: Readable) => Promise<void>,
): Promise<void> => {
  const home = homeOf(server.major);
  const passwordFile = `${home}/${CONFIG}/password`;
  const command = initdbArguments(`${home}/${PGDATA}`, passwordFile);
  const { id } = await runtime.create({ ...makerSpec(server, 'initdb'), entrypoint: ['initdb'], command });
  try {
    await runtime.putArchive(id, home, await archiveOf(home, [{ ...OWN, path: passwordFile, content: password }]));
    await runtime.start(id);
    const code = await runtime.wait(id, AbortSignal.timeout(INITDB_MS));
    if (code !== 0) throw await initdbFailed(runtime, server, { id, code });
    await use(await runtime.getArchive(id, `${home}/${PGDATA}`));
  } finally {
    await runtime.remove(id);
  }
};

const initdbFailed = async (
  runtime: Runtime,
  { major }: Server,
  { id, code }: { id: string; code: number },
): Promise<BerthError> => {
  const lines: string[] = [];
  for await (const { line } of runtime.logs(id, { follow: false, tail: LOG_LINES })) lines.push(line);
  return new BerthError('INTERNAL_ERROR', `initdb of ${imageOf(major)} ended with exit code ${code}`, {
    hint: 'read log_tail; is the disk full, or the image not the official one?',
    retryable: true,
    logTail: lines.join('\n'),
  });
};

/**
 * Starts a server on a cluster, lets `settle` make roles and databases, and runs `use` on the tar of its data directory. It is
 * ended by SIGQUIT, as if it had crashed: one that starts from the tar then recovers, and with that syncs every file of it to
 * disk, which unpacking does not.
 */
export const withSettledCluster = async (
  runtime: Runtime,
  { server, tar, settle }: { server: Server; tar: Readable; settle: () => Promise<void> },
  use: (tar: Readable) => Promise<void>,
): Promise<void> => {
  const home = homeOf(server.major);
  const { id } = await runtime.create({ ...makerSpec(server, 'template'), stopSignal: 'SIGQUIT' });
  try {
    await runtime.putArchive(id, home, await archiveOf(home, serverFiles(server)));
    await runtime.putArchive(id, home, tar);
    await runtime.start(id);
    await settle();
    await runtime.stop(id, STOP_SECONDS);
    await use(await runtime.getArchive(id, `${home}/${PGDATA}`));
  } finally {
    await runtime.remove(id);
  }
};

/** What a berth that was killed in the middle left behind would hold the address of the server. */
export const removeMakers = async (runtime: Runtime, server: Server): Promise<void> => {
  const names = new Set([makerSpec(server, 'initdb').name, makerSpec(server, 'template').name]);
  for (const { id, name } of await runtime.list(server.instance.labels)) if (names.has(name)) await runtime.remove(id);
};
