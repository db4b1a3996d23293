import { createReadStream } from 'node:fs';
import type { Runtime } from '#engines/runtime/port';
import { BerthError } from '#kernel/errors';
import type { PutFile } from '../port.ts';
import { createSweep, type Sweep } from '#kernel/sweep';
import { archiveOf } from './archive.ts';
import { MARKS } from './cluster.ts';
import { homeOf, OWN, type Server, serverFiles } from './server.ts';
import type { Templates } from './template.ts';

const CHUNK_BYTES = 128 * 1024;

/** What a container has been given. */
export type Placed =
  /** A data directory that was prepared; its superuser has the password of the templates. */
  | 'template'
  /** What it takes to make one at its start. */
  | 'new'
  /** Nothing but its files: there is one. */
  | 'files';

/**
 * Puts certificate and rules into a container that has not started yet. Into a volume that has no data directory also one that
 * was prepared, or else the password with which the server makes it. The last file of all says so: what was broken off is done
 * again, and nothing is ever unpacked over what may be data.
 */
export const placeServer = async (
  { runtime, templates }: { runtime: Runtime; templates: Pick<Templates, 'find'> },
  { server, containerId, fresh }: { server: Server; containerId: string; fresh: boolean },
): Promise<Placed> => {
  const home = homeOf(server.major);
  const mark = (path: string, content = ''): PutFile => ({ ...OWN, path: `${home}/${path}`, content });
  const put = async (...marks: PutFile[]): Promise<Uint8Array> =>
    await archiveOf(home, [...serverFiles(server), ...marks]);
  if (!fresh && (await exists(runtime, containerId, `${home}/${MARKS.prepared}`))) {
    await runtime.putArchive(containerId, home, await put());
    return 'files';
  }
  const template = await templates.find(server.major);
  if (template === undefined) {
    const password = mark(MARKS.newPassword, server.instance.adminPassword);
    await runtime.putArchive(containerId, home, await put(password, mark(MARKS.prepared)));
    return 'new';
  }
  const sweep = createSweep();
  const files = await put(mark(MARKS.unsynced), mark(MARKS.prepared));
  await runtime.putArchive(containerId, home, joined(template, files, sweep));
  sweep.end();
  return 'template';
};

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
