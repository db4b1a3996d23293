import type { ContainerSpec } from '#engines/runtime/port';
import type { Connection, Credential, DatastoreInstance } from '../port.ts';
import { addressOf, APP_DATABASE, APP_ROLE, POSTGRES_PORT, READER, WRITER } from '../postgres/connect.ts';
import { adminRules, type HbaRule } from '../postgres/hba.ts';
import { containerName, type Server } from '../postgres/server.ts';
import { maxConnections } from '../postgres/settings.ts';

export const MONGO_PORT = 27_017;
/** Of FerretDB, which apps connect to. */
export const MAIN = 'main';
/** Of its Postgres. */
export const STORAGE = 'storage';
/** FerretDB 1.24 by the Postgres that it stands on. */
export const STORAGE_MAJOR = '17';
export const FERRETDB_IMAGE = 'ghcr.io/ferretdb/ferretdb:1.24';

/** Clients of a tunnel act as this role: the console's writer has limits of time that a tunnel has no use for. */
export const TUNNEL = 'berth_tunnel';
/** FerretDB uses the role of its URL for a client that did not log in. There is none of this name. */
const NOBODY = 'berth_nobody';

const MIB = 1024 * 1024;
const PIDS_LIMIT = 256;
/** Commands that are being carried out may end; then it stops by itself. */
const STOP_GRACE_SECONDS = 15;

export interface Split {
  storageMb: number;
  mainMb: number;
}

/**
 * The memory of both containers. FerretDB streams what it reads, but sorts and groups in its own memory; Postgres is given
 * what it caches with.
 */
export const splitMemory = (memoryMb: number): Split => {
  const mainMb = Math.floor(Math.min(Math.max(memoryMb * 0.4, 96), 4096));
  return { storageMb: memoryMb - mainMb, mainMb };
};

/** The instance as its Postgres sees it: whatever is done to `main` of a Postgres happens to the storage. */
export const storageOf = (instance: DatastoreInstance): DatastoreInstance => {
  const address = addressOf(instance, STORAGE);
  return {
    ...instance,
    version: STORAGE_MAJOR,
    addresses: { [MAIN]: address, [STORAGE]: address },
    memoryMb: splitMemory(instance.memoryMb).storageMb,
    cpus: instance.cpus / 2,
    credentials: [...instance.credentials, tunnelLogin(instance)],
  };
};

export const tunnelLogin = ({ writerPassword }: DatastoreInstance): Credential => ({
  user: TUNNEL,
  password: writerPassword,
});

export const storageServer = (instance: DatastoreInstance): Server => {
  const storage = storageOf(instance);
  return {
    instance: storage,
    unit: STORAGE,
    major: STORAGE_MAJOR,
    memoryMb: storage.memoryMb,
    cpus: storage.cpus,
    // Nobody looks it up: FerretDB and berth know its address.
    aliases: [],
    hba: storageRules(instance),
  };
};

/** Roles of apps come in through FerretDB alone. Dumps are read by jobs of berth, whose addresses are not known before. */
export const storageRules = (instance: DatastoreInstance): HbaRule[] => {
  const ferretdb = `${addressOf(instance, MAIN)}/32`;
  const method = 'scram-sha-256';
  return [
    ...adminRules(instance.gateway),
    { database: APP_DATABASE, user: `+${APP_ROLE},${READER}`, address: ferretdb, method },
    { database: APP_DATABASE, user: `${READER},${WRITER}`, address: `${instance.gateway}/32`, method },
    { database: APP_DATABASE, user: READER, address: 'samenet', method },
    { database: 'all', user: 'all', address: 'all', method: 'reject' },
  ];
};

export const ferretdbContainer = (instance: DatastoreInstance): ContainerSpec => {
  const { mainMb } = splitMemory(instance.memoryMb);
  return {
    name: containerName({ instance, unit: MAIN }),
    image: FERRETDB_IMAGE,
    env: ferretdbEnvironment(instance),
    labels: instance.labels,
    network: { name: instance.network, ip: addressOf(instance, MAIN), aliases: [instance.host] },
    loopbackPorts: [],
    mounts: [],
    volumes: [],
    memoryBytes: mainMb * MIB,
    cpus: instance.cpus / 2,
    pidsLimit: PIDS_LIMIT,
    capAdd: [],
    user: '1000:1000',
    readOnlyRoot: true,
    // The image declares a volume there, which nothing is kept in.
    tmpfs: ['/state'],
    restart: 'unless-stopped',
    init: false,
    stopGraceSeconds: STOP_GRACE_SECONDS,
  };
};

/** Holds no secret: whoever connects to FerretDB brings the user and password that it then uses itself. */
export const ferretdbEnvironment = (instance: DatastoreInstance): Record<string, string> => ({
  FERRETDB_HANDLER: 'postgresql',
  FERRETDB_LISTEN_ADDR: `:${MONGO_PORT}`,
  FERRETDB_POSTGRESQL_URL: storageUrl(instance),
  FERRETDB_STATE_DIR: '-',
  // Metrics and profiles, for anyone in the network.
  FERRETDB_DEBUG_ADDR: '-',
  FERRETDB_TELEMETRY: 'disable',
  DO_NOT_TRACK: '1',
  // Only what ends it. Errors of commands are told to clients, and would be logged with parts of their documents.
  FERRETDB_LOG_LEVEL: 'ERROR+1',
  // Collects garbage in time instead of being killed.
  GOMEMLIMIT: `${Math.floor(splitMemory(instance.memoryMb).mainMb * 0.85)}MiB`,
});

const storageUrl = (instance: DatastoreInstance): string => {
  const settings = new URLSearchParams({
    sslmode: 'disable',
    connect_timeout: '5',
    pool_max_conns: String(poolSize(splitMemory(instance.memoryMb).storageMb)),
    pool_max_conn_idle_time: '1m',
  });
  return `postgres://${NOBODY}@${addressOf(instance, STORAGE)}:${POSTGRES_PORT}/${APP_DATABASE}?${settings}`;
};

/** FerretDB has a pool for each user and password, and apps have two of them while credentials change. */
const poolSize = (storageMb: number): number => Math.min(50, Math.floor((maxConnections(storageMb) - 10) / 2));

/** What apps are given. FerretDB knows no other mechanism than PLAIN, and drivers would not choose it by themselves. */
export const connectionOf = (instance: DatastoreInstance, { user, password }: Credential): Connection => ({
  url: `mongodb://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${instance.host}:${MONGO_PORT}/${APP_DATABASE}?authMechanism=PLAIN`,
  parts: {},
});
