import type Docker from 'dockerode';
import type { ContainerSpec } from './port.ts';

/**
 * The capabilities of app replicas, all that ordinary images need and nothing beyond:
 * CHOWN, DAC_OVERRIDE, FOWNER: entry points that start as root prepare directories that belong to the app's own user;
 * SETGID, SETUID: they then drop to that user (su-exec, gosu, nginx's workers); KILL: and signal it as a supervisor;
 * NET_BIND_SERVICE: images whose servers listen on port 80.
 * Left out of Docker's own default: NET_RAW, MKNOD, SYS_CHROOT, SETFCAP, SETPCAP, FSETID, AUDIT_WRITE.
 */
export const APP_CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'KILL',
  'NET_BIND_SERVICE',
  'SETGID',
  'SETUID',
] as const;

/** Open files of a container: enough for servers, and below what daemons without the right to raise limits have themselves. */
const OPEN_FILES = 16_384;

/** Docker's request body for a container: whatever the spec does not name is closed. */
export const createBody = (spec: ContainerSpec): Docker.ContainerCreateOptions => ({
  Image: spec.image,
  ...(spec.entrypoint === undefined ? {} : { Entrypoint: spec.entrypoint }),
  ...(spec.command === undefined ? {} : { Cmd: spec.command }),
  ...(spec.user === undefined ? {} : { User: spec.user }),
  Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
  Labels: spec.labels,
  ...(spec.stopSignal === undefined ? {} : { StopSignal: spec.stopSignal }),
  StopTimeout: wholeSeconds(spec.stopGraceSeconds),
  // berth probes by itself; an image's own check would start a process in every container again and again.
  Healthcheck: { Test: ['NONE'] },
  ExposedPorts: Object.fromEntries(spec.loopbackPorts.map(({ container }) => [`${container}/tcp`, {}])),
  HostConfig: { ...hardening(spec), ...limits(spec), ...storage(spec), ...reach(spec) },
  NetworkingConfig: networking(spec),
});

const hardening = (spec: ContainerSpec): Docker.HostConfig => ({
  CapDrop: ['ALL'],
  CapAdd: spec.capAdd,
  SecurityOpt: ['no-new-privileges:true'],
  Privileged: false,
  Devices: [],
  IpcMode: 'private',
  ReadonlyRootfs: spec.readOnlyRoot,
  Init: spec.init,
  RestartPolicy: { Name: spec.restart },
});

const limits = (spec: ContainerSpec): Docker.HostConfig => ({
  ...resourceLimits(spec),
  PidsLimit: spec.pidsLimit,
  OomKillDisable: false,
  OomScoreAdj: 0,
  Ulimits: [{ Name: 'nofile', Soft: OPEN_FILES, Hard: OPEN_FILES }],
  ...(spec.cpuShares === undefined ? {} : { CpuShares: spec.cpuShares }),
  ...(spec.shmBytes === undefined ? {} : { ShmSize: spec.shmBytes }),
  LogConfig: spec.keepLogs === false ? { Type: 'none', Config: {} } : LOG_FILES,
});

const LOG_FILES = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3', compress: 'false' } };

/** What may change while a container runs. */
export const resourceLimits = ({
  memoryBytes,
  cpus,
}: Pick<ContainerSpec, 'memoryBytes' | 'cpus'>): Docker.HostConfig => ({
  Memory: memoryBytes,
  // Equal to the memory: no swap.
  MemorySwap: memoryBytes,
  NanoCpus: Math.round(cpus * 1e9),
});

const storage = (spec: ContainerSpec): Docker.HostConfig => ({
  Tmpfs: Object.fromEntries(spec.tmpfs.map((path) => [path, tmpfsOptions(spec)])),
  Mounts: [
    ...spec.mounts.map(({ hostPath, target, readOnly }) => ({
      Type: 'bind' as const,
      Source: hostPath,
      Target: target,
      ReadOnly: readOnly,
      BindOptions: { Propagation: 'rprivate' as const },
    })),
    ...spec.volumes.map(({ name, target, labels }) => ({
      Type: 'volume' as const,
      Source: name,
      Target: target,
      ReadOnly: false,
      VolumeOptions: { NoCopy: false, Labels: labels, DriverConfig: { Name: 'local', Options: {} } },
    })),
  ],
});

/** A tmpfs counts as the container's memory: half of it, so that a full /tmp alone does not kill the app. */
const tmpfsOptions = (spec: ContainerSpec): string =>
  `rw,noexec,nosuid,nodev,mode=1777,size=${Math.floor(spec.memoryBytes / 2)}`;

const reach = (spec: ContainerSpec): Docker.HostConfig => ({
  NetworkMode: typeof spec.network === 'string' ? spec.network : spec.network.name,
  PublishAllPorts: false,
  PortBindings: Object.fromEntries(
    spec.loopbackPorts.map(({ host, container }) => [
      `${container}/tcp`,
      [{ HostIp: '127.0.0.1', HostPort: String(host) }],
    ]),
  ),
  ExtraHosts: Object.entries(spec.extraHosts ?? {}).map(([name, address]) => `${name}:${address}`),
});

const networking = ({ network }: ContainerSpec): { EndpointsConfig: Docker.EndpointsConfig } => ({
  EndpointsConfig:
    typeof network === 'string'
      ? {}
      : { [network.name]: { IPAMConfig: { IPv4Address: network.ip }, Aliases: network.aliases } },
});

/** Docker takes whole seconds only. */
export const wholeSeconds = (seconds: number): number => Math.max(0, Math.ceil(seconds));
