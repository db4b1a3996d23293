import { createReadStream } from 'node:fs';
import type { Runtime } from '#engines/runtime/port';
import { BerthError } from '#kernel/errors';
import type { PutFile } from '../port.ts';
import { createSweep, type Sweep } from '#kernel/sweep';
import { archiveOf } from './archive.ts';
import { CONFIG, homeOf, OWN, type Server, serverFiles } from './server.ts';
import type { Templates } from './template.ts';

const CHUNK_BYTES = 128 * 1024;

/**
 * Puts certificate and rules into a container that has not started yet; and a data directory, into a volume that has none. The
 * last file of all says that it is complete: so one that was broken off is done again, and one that may hold data never.
 * Resolves with whether it unpacked one.
 */
export const placeServer = async (
  { runtime, templates }: { runtime: Runtime; templates: Templates },
  { server, containerId }: { server: Server; containerId: string },
): Promise<boolean> => {
  const home = homeOf(server.major);
  const prepared: PutFile = { ...OWN, path: `${home}/${CONFIG}/prepared`, content: '' };
  if (await exists(runtime, containerId, prepared.path)) {
    await runtime.putArchive(containerId, home, await archiveOf(home, serverFiles(server)));
    return false;
  }
  const files = await archiveOf(home, [...serverFiles(server), prepared]);
  const sweep = createSweep();
  await runtime.putArchive(containerId, home, joined(await templates.of(server), files, sweep));
  sweep.end();
  return true;
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
