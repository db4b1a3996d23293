import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { ContainerSpec, Labels, Runtime } from '#engines/runtime/port';
import { BerthError } from '#kernel/errors';
import { PLACED, type Placing, type PutFile } from '../port.ts';
import { createSweep, type Sweep } from '#kernel/sweep';
import { archiveOf } from './archive.ts';
import { MARKS } from './cluster.ts';
import { containerName, helperContainer, homeOf, OWN, type Server, serverContainer, serverFiles } from './server.ts';
import type { Templates } from './template.ts';

const CHUNK_BYTES = 128 * 1024;
const MEMORY_BYTES = 16 * 1024 * 1024;

/** What a container has been given. */
export type Given =
  /** A data directory that was prepared; its superuser has the password of the templates. */
  | 'template'
  /** What it takes to make one at its start. */
  | 'new'
  /** Nothing but its files: there is one. */
  | 'files';

export interface PlaceDeps {
  runtime: Runtime;
  templates: Pick<Templates, 'find'>;
  /** Of the container that a data directory is unpacked through, which is gone afterwards. */
  templateLabels: Labels;
}

/**
 * Puts certificate and rules into a container that has not started yet. Into a volume that has no data directory also one that
 * was prepared, or else the password with which the server makes it. The last file of all says so: what was broken off is done
 * again, and nothing is ever unpacked over what may be data.
 */
export const placeServer = async (
  deps: PlaceDeps,
  { server, containerId, fresh }: { server: Server; containerId: string; fresh: boolean },
): Promise<{ what: Given; placing: Placing }> => {
  const { runtime, templates } = deps;
  const home = homeOf(server.major);
  const mark = (path: string, content = ''): PutFile => ({ ...OWN, path: `${home}/${path}`, content });
  const put = async (...marks: PutFile[]): Promise<Uint8Array> =>
    await archiveOf(home, [...serverFiles(server), ...marks]);
  if (!fresh && (await exists(runtime, containerId, `${home}/${MARKS.prepared}`))) {
    await runtime.putArchive(containerId, home, await put());
    return { what: 'files', placing: PLACED };
  }
  const template = await templates.find(server.major);
  if (template === undefined) {
    const password = mark(MARKS.newPassword, server.instance.adminPassword);
    await runtime.putArchive(containerId, home, await put(password, mark(MARKS.prepared)));
    return { what: 'new', placing: PLACED };
  }
  const files = await put(mark(MARKS.unsynced), mark(MARKS.prepared));
  return { what: 'template', placing: { rest: unpack(deps, server, { template, files }) } };
};

/**
 * Through a container of its own that never runs: Docker works on one thing at a time for each container, and the server's
 * starts meanwhile. `START` waits for the last file.
 */
const unpack = async (
  { runtime, templateLabels }: PlaceDeps,
  server: Server,
  { template, files }: { template: string; files: Uint8Array },
): Promise<void> => {
  const sweep = createSweep();
  const { id } = await runtime.create(unpackerSpec(server, templateLabels));
  try {
    await runtime.putArchive(id, homeOf(server.major), joined(template, files, sweep));
  } finally {
    sweep.end();
    await runtime.remove(id);
  }
};

/** Pure, but for its name. */
const unpackerSpec = (server: Server, labels: Labels): ContainerSpec =>
  helperContainer(
    { major: server.major, name: `${containerName(server)}-unpack-${randomBytes(4).toString('hex')}` },
    {
      entrypoint: ['true'],
      env: {},
      labels: { ...server.instance.labels, ...labels },
      volumes: serverContainer(server).volumes,
      memoryBytes: MEMORY_BYTES,
      pidsLimit: 1,
      tmpfs: [],
      init: false,
    },
  );

async function* joined(template: string, files: Uint8Array, sweep: Sweep): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(template, { highWaterMark: CHUNK_BYTES })) {
    sweep.pass(CHUNK_BYTES);
    yield chunk as Uint8Array;
  }
  yield files;
}

const exists = async (runtime: Runtime, containerId: string, path: string): Promise<boolean> => {
  try {
    (await runtime.getArchive(containerId, path)).destroy();
    return true;
  } catch (thrown) {
    if (thrown instanceof BerthError && thrown.kind === 'NOT_FOUND') return false;
    throw thrown;
  }
};
