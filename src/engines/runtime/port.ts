import type { Readable } from 'node:stream';

/**
 * The port to whatever runs containers. Contract, held by test/contracts/runtime.ts on every implementation:
 * - ids are opaque; every call on an id that is gone says NOT_FOUND, except `stop` and `remove`, which are idempotent;
 * - every call has a deadline and fails with a retryable INTERNAL_ERROR when the engine does not answer in time;
 * - nothing is touched that does not carry the labels of this installation;
 * - events are hints and may be lost: the truth is `inspect` and `list`.
 */
export interface Runtime {
  /** Versions and capacity of the engine's host; fails when the engine does not answer. */
  info(): Promise<RuntimeInfo>;

  /** Makes the network unless one of that name and subnet is there. */
  ensureNetwork(spec: NetworkSpec): Promise<void>;
  /** Idempotent; CONFLICT while containers run in it. */
  removeNetwork(name: string): Promise<void>;
  listNetworks(labels: Labels): Promise<NetworkSummary[]>;
  /** Every IPv4 subnet (CIDR) in use by any network of the engine, ours or not. */
  usedSubnets(): Promise<string[]>;

  /** Creates a container without starting it. */
  create(spec: ContainerSpec): Promise<{ id: string }>;
  /** INVALID_INPUT when the image's command can't be run, CONFLICT when its address or loopback port is taken. */
  start(id: string): Promise<void>;
  /** From now on the engine restarts it whenever it ends by itself, and after a reboot: `restart` becomes `unless-stopped`. */
  keepRunning(id: string): Promise<void>;
  /** The image's stop signal (SIGTERM unless it names another), then SIGKILL after `graceSeconds`; resolves when it has ended. */
  stop(id: string, graceSeconds: number): Promise<void>;
  /** Kills and removes the container with its anonymous volumes. */
  remove(id: string): Promise<void>;
  /** Resolves with the exit code once a started container does not run any more; as long as that takes. */
  wait(id: string, signal?: AbortSignal): Promise<number>;
  /** Changes the limits of a container, running or not. The engine refuses less memory than is in use: INVALID_INPUT. */
  updateResources(id: string, resources: { memoryBytes: number; cpus: number }): Promise<void>;
  inspect(id: string): Promise<ContainerState | undefined>;
  list(labels: Labels): Promise<ContainerSummary[]>;
  /**
   * Log lines in order, at the reader's pace; with `follow`, until the container ends (its last lines included) or `signal`
   * aborts. A broken link is a retryable INTERNAL_ERROR: go on with `since`. A line is cut at 16 KiB.
   */
  logs(id: string, options: LogOptions): AsyncIterable<RuntimeLogLine>;
  /** Connects to what a container prints; before its start, so that nothing is missed. */
  attach(id: string): Promise<Attachment>;
  /**
   * Unpacks a tar below `path`, a directory of the container, with the owners and modes that its entries name. The container
   * need not run; its volumes count. NOT_FOUND when there is no such directory.
   */
  putArchive(id: string, path: string, tar: Uint8Array | AsyncIterable<Uint8Array>): Promise<void>;
  /** A tar of `path`, whose entries begin with its last part. Read it to its end, or destroy it. */
  getArchive(id: string, path: string): Promise<Readable>;
  /** What these containers use, quickly enough for all of them every few seconds; those that do not run are left out. */
  usage(ids: readonly string[]): Promise<Map<string, ContainerUsage>>;
  /**
   * Container events (`die`, `oom`, `start`, …) of containers with these labels, from the moment of the call until `signal`
   * aborts or the link breaks.
   */
  events(labels: Labels, signal: AbortSignal): AsyncIterable<RuntimeEvent>;

  listVolumes(labels: Labels): Promise<VolumeSummary[]>;
  /** Deletes the data. Idempotent; CONFLICT while a container has it, running or not. */
  removeVolume(name: string): Promise<void>;

  inspectImage(ref: string): Promise<ImageInfo | undefined>;
  /** Makes `ref` present locally: at once when it is, else pulled. */
  ensureImage(ref: string, signal?: AbortSignal): Promise<ImageInfo>;
  /** Pulls `ref` even when it is there, because its name may stand for a newer image by now. */
  pullImage(ref: string, signal?: AbortSignal): Promise<ImageInfo>;
  tagImage(ref: string, target: string): Promise<void>;
  /** Local names (`repository:tag`) that begin with `prefix`. */
  imageNames(prefix: string): Promise<string[]>;
  /** Untags, and deletes layers that nothing else uses. Idempotent; an image in use stays. */
  removeImage(ref: string): Promise<void>;
}

export type Labels = Record<string, string>;

export interface RuntimeInfo {
  engine: string;
  version: string;
  apiVersion: string;
  cpus: number;
  memoryBytes: number;
  containersRunning: number;
  dockerRootDir: string;
  cgroupDriver: string;
  cgroupVersion: string;
}

export interface NetworkSpec {
  name: string;
  subnet: string;
  gateway: string;
  /** Name of the bridge interface on the host, at most 15 characters, so that firewall rules can match it. */
  bridge: string;
  labels: Labels;
  /** Whether containers may talk to each other. */
  interContainer: boolean;
}

export interface NetworkSummary {
  name: string;
  subnet: string;
  labels: Labels;
}

export interface Mount {
  hostPath: string;
  target: string;
  readOnly: boolean;
}

export interface ContainerSpec {
  name: string;
  image: string;
  entrypoint?: string[];
  command?: string[];
  env: Record<string, string>;
  labels: Labels;
  /** A network with a fixed address; the host's network (Traefik only); or none at all. */
  network: { name: string; ip: string; aliases: string[] } | 'host' | 'none';
  /** Ports published on 127.0.0.1 of the host. */
  loopbackPorts: { host: number; container: number }[];
  /** Bind mounts; only platform containers have any, besides a datastore's CA. */
  mounts: Mount[];
  /** Named volumes: volume name → target. */
  volumes: { name: string; target: string; labels: Labels }[];
  memoryBytes: number;
  /** Cores at most; 0 for all. */
  cpus: number;
  /** Weight beside other containers while CPU is scarce; 1024 unless set. */
  cpuShares?: number;
  pidsLimit: number;
  capAdd: string[];
  user?: string;
  readOnlyRoot: boolean;
  tmpfs: string[];
  restart: 'unless-stopped' | 'no';
  /** Run an init process that forwards signals and reaps children. */
  init: boolean;
  stopGraceSeconds: number;
  /** What `stop` sends first, such as `SIGQUIT`; the image's own signal unless set. */
  stopSignal?: string;
  /** Names that resolve inside the container: name → address. */
  extraHosts?: Record<string, string>;
  /** Whether the engine stores what the container prints; true unless set. Without, `logs` has nothing. */
  keepLogs?: boolean;
  /** Size of /dev/shm; 64 MiB unless set. Counts as the container's memory. */
  shmBytes?: number;
}

/** A live connection to a container's streams. */
export interface Attachment {
  /**
   * What the container prints, at the reader's pace: it waits meanwhile. To be read once. Ends when the container does, but
   * also when Docker goes away: only `wait` tells that all was said.
   */
  output: AsyncIterable<OutputChunk>;
  /** Disconnects; the container goes on. Idempotent. */
  close(): void;
}

/** A piece of a stream, cut anywhere. Its bytes are valid until the next is asked for: copy what is kept for longer. */
export interface OutputChunk {
  stream: 'stdout' | 'stderr';
  data: Uint8Array;
}

export interface VolumeSummary {
  name: string;
  labels: Labels;
}

export interface ContainerState {
  id: string;
  name: string;
  image: string;
  labels: Labels;
  status: 'created' | 'running' | 'restarting' | 'paused' | 'exited' | 'dead' | 'removing';
  exitCode: number | null;
  oomKilled: boolean;
  restartCount: number;
  startedAt: string | null;
  finishedAt: string | null;
  /** Process id of the first process on the host; null when not running. */
  pid: number | null;
  /** Fixed address in the berth network; null for the host network. */
  ip: string | null;
}

export interface ContainerSummary {
  id: string;
  name: string;
  labels: Labels;
  running: boolean;
}

export interface LogOptions {
  follow: boolean;
  /** RFC 3339 with nanoseconds, exclusive: only lines after it. */
  since?: string;
  tail?: number;
  signal?: AbortSignal;
}

export interface RuntimeLogLine {
  /** RFC 3339 with nanoseconds, as the engine gave it. */
  ts: string;
  stream: 'stdout' | 'stderr';
  line: string;
}

export interface ContainerUsage {
  /** CPU time since its start. */
  cpuSeconds: number;
  /** Without the page cache that the kernel gives back under pressure. */
  memoryBytes: number;
}

export interface RuntimeEvent {
  action: 'create' | 'start' | 'die' | 'oom' | 'kill' | 'stop' | 'destroy';
  containerId: string;
  labels: Labels;
  exitCode: number | null;
  /** Milliseconds since the epoch. */
  at: number;
}

export interface ImageInfo {
  id: string;
  sizeBytes: number;
  exposedPorts: number[];
  repoDigests: string[];
  user: string;
  entrypoint: string[];
  command: string[];
}
