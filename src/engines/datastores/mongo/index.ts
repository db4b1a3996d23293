import { type BerthError, invalidInput } from '#kernel/errors';
import { type DatastoreEngine, type DatastoreInstance, PLACED, type Unit } from '../port.ts';
import { connect } from '../postgres/connect.ts';
import { imageOf, serverContainer } from '../postgres/server.ts';
import { browse, query } from './console.ts';
import { ferretdbAnswers, openFerretdb, settleFerretdb } from './ferretdb.ts';
import { relayThrough } from './relay.ts';
import {
  connectionOf,
  FERRETDB_IMAGE,
  ferretdbContainer,
  MAIN,
  MONGO_PORT,
  STORAGE,
  STORAGE_MAJOR,
  storageServer,
  tunnelLogin,
} from './spec.ts';
import { createStorage, type StorageDeps } from './storage.ts';

/** How long a tunnel's connection may take to log in; after that it lives as long as its client. */
const BEGIN_MS = 10_000;

/** Documents for the drivers of MongoDB: FerretDB, which keeps them in a Postgres of its own. */
export const createMongoEngine = (given: Omit<StorageDeps, 'connect'>): DatastoreEngine => {
  const deps = { ...given, connect };
  const storage = createStorage(deps);
  return {
    kind: 'mongo',
    versions: ['1.24'],
    restorable: false,
    defaultMemoryMb: 512,
    minMemoryMb: 256,
    port: MONGO_PORT,
    images: () => [imageOf(STORAGE_MAJOR), FERRETDB_IMAGE],
    roles: () => [STORAGE, MAIN],
    units,
    connection: connectionOf,
    place: async (instance, { role, ...container }) => {
      return role === STORAGE ? await storage.place(instance, container) : PLACED;
    },
    settle: async (instance, signal) => {
      await storage.settle(instance, signal);
      await settleFerretdb(deps, instance, signal);
    },
    quiesce: storage.quiesce,
    answers: async (instance) => {
      const both = await Promise.all([storage.answers(instance), ferretdbAnswers(instance)]);
      return both.every(Boolean);
    },
    usedBytes: storage.usedBytes,
    setReadOnly: storage.setReadOnly,
    browse: (instance, request) => browse(deps, instance, request),
    query: (instance, request) => query(deps, instance, request),
    relay: async (instance, client, signal) => {
      const wire = await beginRelay(instance, signal);
      await relayThrough(wire, client, signal);
    },
    dump: storage.dump,
    rehearse: storage.rehearse,
    load: () => Promise.reject(notRestorable()),
    loadBeside: () => Promise.reject(notRestorable()),
    swap: () => Promise.reject(notRestorable()),
    listBeside: () => Promise.reject(notRestorable()),
    dropBeside: () => Promise.reject(notRestorable()),
  };
};

const units = (instance: DatastoreInstance): Unit[] => [
  { role: STORAGE, container: serverContainer(storageServer(instance)) },
  { role: MAIN, container: ferretdbContainer(instance) },
];

const beginRelay = async (instance: DatastoreInstance, signal: AbortSignal) => {
  const begin = new AbortController();
  const timer = setTimeout(() => begin.abort(new DOMException('the login took too long', 'TimeoutError')), BEGIN_MS);
  try {
    return await openFerretdb(instance, tunnelLogin(instance), AbortSignal.any([signal, begin.signal]));
  } finally {
    clearTimeout(timer);
  }
};

const notRestorable = (): BerthError =>
  invalidInput(
    'a mongo datastore cannot be restored from a backup',
    'download the backup (berth db download) and copy the data into a datastore; docs/datastores.md shows how',
  );
