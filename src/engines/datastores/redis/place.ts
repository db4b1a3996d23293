import type { Runtime } from '#engines/runtime/port';
import type { DatastoreInstance } from '../port.ts';
import { archiveOf } from '../postgres/archive.ts';
import { DATA_DIR } from './config.ts';
import { filesOf } from './units.ts';

/** Puts the configuration and the users into a container that has not started. */
export const placeFiles = async (
  runtime: Pick<Runtime, 'putArchive'>,
  instance: DatastoreInstance,
  containerId: string,
): Promise<void> => await runtime.putArchive(containerId, DATA_DIR, await archiveOf(DATA_DIR, filesOf(instance)));
