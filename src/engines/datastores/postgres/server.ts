import type { ContainerSpec } from '#engines/runtime/port';
import type { DatastoreInstance, PutFile } from '../port.ts';
import { START } from './cluster.ts';
import { addressOf } from './connect.ts';
import { type HbaRule, hbaFile } from './hba.ts';
import { pidsLimit, serverSettings } from './settings.ts';

/** A Postgres server in a container: the whole of a postgres datastore, or what a mongo one stands on. */
export interface Server {
  instance: DatastoreInstance;
  /** Role of its container, by which it has its address. */
  unit: string;
  major: string;
  memoryMb: number;
  cpus: number;
  aliases: string[];
  hba: HbaRule[];
}

/** The user of the official image; the server starts as it, and needs no capability at all. */
const UID = 999;
export const USER = `${UID}:${UID}`;
const MIB = 1024 * 1024;
const STOP_GRACE_SECONDS = 60;

export const imageOf = (major: string): string => `postgres:${major}`;

/** Where the volume goes: the path that the official image declares, so that no second, anonymous one is made. */
export const homeOf = (major: string): string =>
  Number(major) >= 18 ? '/var/lib/postgresql' : '/var/lib/postgresql/data';

/** The data directory below the home. */
export const PGDATA = 'pgdata';
/** Below the home too: a container whose root is read-only takes files into volumes alone. */
const CONFIG = 'berth';

export const containerName = ({ instance, unit }: Pick<Server, 'instance' | 'unit'>): string =>
  `berth-${instance.project}-${instance.name}-${unit}-${instance.id.slice(-10)}`;

export const serverContainer = (server: Server): ContainerSpec => {
  const { instance, unit, major, memoryMb } = server;
  const home = homeOf(major);
  return {
    name: containerName(server),
    image: imageOf(major),
    // Not the image's own entry point, which would make a database wherever it finds none.
    entrypoint: ['sh', '-c', START, 'start'],
    command: Object.entries({ ...serverSettings({ ...instance, ...server }), ...fileSettings(home) }).flatMap(
      ([name, value]) => ['-c', `${name}=${value}`],
    ),
    env: { PGDATA: `${home}/${PGDATA}` },
    labels: instance.labels,
    network: { name: instance.network, ip: addressOf(instance, unit), aliases: server.aliases },
    loopbackPorts: [],
    mounts: [],
    volumes: [{ name: `berth-${instance.id}-${unit}`, target: home, labels: instance.labels }],
    memoryBytes: memoryMb * MIB,
    cpus: server.cpus,
    pidsLimit: pidsLimit(memoryMb),
    capAdd: [],
    user: USER,
    readOnlyRoot: true,
    tmpfs: ['/tmp'],
    // Where processes that work on one query share what they found.
    shmBytes: Math.max(64, Math.floor(memoryMb / 4)) * MIB,
    restart: 'unless-stopped',
    init: false,
    stopGraceSeconds: STOP_GRACE_SECONDS,
  };
};

const fileSettings = (home: string): Record<string, string> => ({
  hba_file: `${home}/${CONFIG}/pg_hba.conf`,
  ssl: 'on',
  ssl_cert_file: `${home}/${CONFIG}/server.crt`,
  ssl_key_file: `${home}/${CONFIG}/server.key`,
});

/** A container that has no network and does one thing for a server, or nothing but to hold its volume. */
export const helperContainer = (
  { major, name }: { major: string; name: string },
  own: Pick<
    ContainerSpec,
    'entrypoint' | 'env' | 'labels' | 'memoryBytes' | 'pidsLimit' | 'volumes' | 'tmpfs' | 'init'
  > &
    Partial<ContainerSpec>,
): ContainerSpec => ({
  name,
  image: imageOf(major),
  command: [],
  network: 'none',
  loopbackPorts: [],
  mounts: [],
  cpus: 1,
  capAdd: [],
  user: USER,
  readOnlyRoot: true,
  restart: 'no',
  stopGraceSeconds: 0,
  ...own,
});

/** Its certificate and rules; paths are absolute. */
export const serverFiles = ({ instance, major, hba }: Server): PutFile[] => {
  const file = (name: string, content: string): PutFile => ({
    ...OWN,
    path: `${homeOf(major)}/${CONFIG}/${name}`,
    content,
  });
  return [
    file('pg_hba.conf', hbaFile(hba)),
    file('server.crt', instance.tls.certificatePem),
    file('server.key', instance.tls.keyPem),
  ];
};

/** Postgres refuses a key that others may read. */
export const OWN = { uid: UID, gid: UID, mode: 0o600 };
