import type { Connection, Credential, DatastoreInstance, PutFile, Unit } from '../port.ts';
import { containerName } from '../postgres/server.ts';
import { aclFile } from './acl.ts';
import { ACL_FILE, CONFIG_FILE, configFile, DATA_DIR, REDIS_PORT } from './config.ts';

const MIB = 1024 ** 2;
export const MAIN = 'main';
/** User and group `valkey` of the official image. */
const VALKEY_ID = 999;
/** The main thread, background threads, and a fork at a time. */
const PIDS = 64;
/** On SIGTERM the server flushes its log and goes. */
const STOP_SECONDS = 30;

export const addressOf = (instance: DatastoreInstance): string => {
  const address = instance.addresses[MAIN];
  if (address === undefined) throw new Error(`datastore ${instance.name} has no address`);
  return address;
};

export const imageOf = (version: string): string => `valkey/valkey:${version}`;

/** Valkey in one container. It runs as its own user from the start, so it needs no capability at all. Pure. */
export const unitsOf = (instance: DatastoreInstance): Unit[] => [
  {
    role: MAIN,
    container: {
      name: containerName({ instance, unit: MAIN }),
      image: imageOf(instance.version),
      command: ['valkey-server', CONFIG_FILE],
      env: {},
      labels: instance.labels,
      network: { name: instance.network, ip: addressOf(instance), aliases: [instance.host] },
      loopbackPorts: [],
      mounts: [],
      volumes: [{ name: `berth-${instance.id}-${MAIN}`, target: DATA_DIR, labels: instance.labels }],
      memoryBytes: instance.memoryMb * MIB,
      cpus: instance.cpus,
      pidsLimit: PIDS,
      capAdd: [],
      user: `${VALKEY_ID}:${VALKEY_ID}`,
      readOnlyRoot: true,
      tmpfs: [],
      restart: 'unless-stopped',
      init: false,
      stopGraceSeconds: STOP_SECONDS,
    },
  },
];

/** What the container must find when it starts. Pure. */
export const filesOf = (instance: DatastoreInstance): PutFile[] => {
  const owner = { uid: VALKEY_ID, gid: VALKEY_ID, mode: 0o600 };
  return [
    { path: CONFIG_FILE, content: configFile(instance), ...owner },
    { path: ACL_FILE, content: aclFile(instance), ...owner },
  ];
};

export const connectionOf = (instance: DatastoreInstance, { user, password }: Credential): Connection => ({
  url: `redis://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${instance.host}:${REDIS_PORT}/0`,
  parts: {},
});
