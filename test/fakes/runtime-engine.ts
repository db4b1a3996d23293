import { conflict, notFound } from '#kernel/errors';
import type {
  ContainerSpec,
  ContainerState,
  ImageInfo,
  Labels,
  NetworkSpec,
  OutputChunk,
  RuntimeEvent,
  RuntimeLogLine,
} from '#engines/runtime/port';
import { createFeed, type Feed } from './feed.ts';

/** What a fake container does once it is started. */
export interface FakeProgram {
  lines?: { stream: 'stdout' | 'stderr'; line: string }[];
  /** Ends with this code right after its lines; without it, the program runs until it is stopped. */
  exitCode?: number;
  oomKilled?: boolean;
}

export interface FakeRuntimeOptions {
  /** Decides what a container runs; by default, every one idles. */
  program?: (spec: ContainerSpec) => FakeProgram;
  /** References of the images that are there. */
  images?: string[];
  /** References that `ensureImage` can pull. */
  pullable?: string[];
  now?: () => number;
}

export interface FakeContainer {
  spec: ContainerSpec;
  state: ContainerState;
  log: Feed<RuntimeLogLine>;
  output: Feed<OutputChunk>;
  /** Those outside of its volumes, by absolute path. */
  files: Map<string, FakeFile>;
}

export interface FakeFile {
  path: string;
  /** Null: a directory. */
  content: Uint8Array | null;
  uid: number;
  gid: number;
  mode: number;
}

export interface FakeVolume {
  labels: Labels;
  files: Map<string, FakeFile>;
}

/** What the fake engine holds, and what becomes of it. */
export class FakeEngine {
  readonly containers = new Map<string, FakeContainer>();
  readonly networks = new Map<string, NetworkSpec>();
  readonly volumes = new Map<string, FakeVolume>();
  readonly images = new Map<string, ImageInfo>();
  readonly events = createFeed<RuntimeEvent>();
  readonly options: Required<FakeRuntimeOptions>;
  private counter = 0;

  constructor(options: FakeRuntimeOptions) {
    this.options = { program: () => ({}), images: [], pullable: [], now: () => Date.now(), ...options };
    for (const ref of this.options.images) this.addImage(ref);
  }

  addImage(ref: string): ImageInfo {
    const id = `sha256:${Bun.hash(ref).toString(16).padStart(64, '0')}`;
    const info = { id, sizeBytes: 1, exposedPorts: [], repoDigests: [], user: '', entrypoint: [], command: ['idle'] };
    this.images.set(ref, info);
    return info;
  }

  /** Strictly increasing, in the form in which Docker stamps lines. */
  stamp(): string {
    this.counter += 1;
    const millis = new Date(this.options.now()).toISOString().slice(0, -1);
    return `${millis}${String(this.counter).padStart(6, '0')}Z`;
  }

  create(spec: ContainerSpec): { id: string } {
    if (!this.images.has(spec.image)) throw notFound(`No such image: ${spec.image}`, 'pull it first');
    if ([...this.containers.values()].some(({ state }) => state.name === spec.name)) {
      throw conflict(`the name ${spec.name} is taken`, 'choose another one', true);
    }
    this.counter += 1;
    const id = this.counter.toString(16).padStart(64, '0');
    const state: ContainerState = {
      id,
      name: spec.name,
      image: spec.image,
      labels: spec.labels,
      status: 'created',
      exitCode: null,
      oomKilled: false,
      restartCount: 0,
      startedAt: null,
      finishedAt: null,
      pid: null,
      ip: typeof spec.network === 'string' ? null : spec.network.ip,
    };
    for (const { name, labels } of spec.volumes) {
      if (!this.volumes.has(name)) this.volumes.set(name, { labels, files: new Map() });
    }
    const streams = { log: createFeed<RuntimeLogLine>(), output: createFeed<OutputChunk>() };
    this.containers.set(id, { spec, state, ...streams, files: new Map() });
    this.report(state, 'create');
    return { id };
  }

  start(container: FakeContainer): void {
    const { spec, state } = container;
    if (state.status === 'running') return;
    this.assertReachable(spec);
    const program = this.options.program(spec);
    this.counter += 1;
    Object.assign(state, { status: 'running', exitCode: null, startedAt: this.stamp(), pid: 1000 + this.counter });
    container.log.reopen();
    this.report(state, 'start');
    for (const { stream, line } of program.lines ?? []) this.say(container, stream, line);
    if (program.exitCode !== undefined) this.end(container, program.exitCode, program.oomKilled ?? false);
  }

  /** The files among which `path` is: those of a volume, or of the container itself. */
  filesAt({ spec, files }: FakeContainer, path: string): Map<string, FakeFile> {
    const volume = spec.volumes.find(({ target }) => path === target || path.startsWith(`${target}/`));
    return (volume === undefined ? undefined : this.volumes.get(volume.name)?.files) ?? files;
  }

  private assertReachable({ network }: ContainerSpec): void {
    if (typeof network === 'string') return;
    if (!this.networks.has(network.name)) throw notFound(`network ${network.name} not found`, 'make it first');
    const holder = [...this.containers.values()].find(
      ({ spec, state }) =>
        state.status === 'running' &&
        typeof spec.network !== 'string' &&
        spec.network.name === network.name &&
        spec.network.ip === network.ip,
    );
    if (holder !== undefined) throw conflict(`Address already in use: ${network.ip}`, 'choose another one', true);
  }

  say({ log, output }: FakeContainer, stream: 'stdout' | 'stderr', line: string): void {
    log.push({ ts: this.stamp(), stream, line });
    output.push({ stream, data: Buffer.from(`${line}\n`) });
  }

  /** The process ends by itself: its restart policy decides what follows. */
  end(container: FakeContainer, exitCode: number, oomKilled: boolean): void {
    const { spec, state } = container;
    if (oomKilled) this.report(state, 'oom');
    this.halt(container, exitCode);
    state.oomKilled = oomKilled;
    if (spec.restart === 'no') return;
    state.status = 'restarting';
    state.restartCount += 1;
  }

  stop(container: FakeContainer): void {
    if (container.state.status !== 'running' && container.state.status !== 'restarting') return;
    this.report(container.state, 'kill');
    this.halt(container, 143);
    this.report(container.state, 'stop');
  }

  remove(container: FakeContainer): void {
    if (container.state.status === 'running') this.halt(container, 137);
    this.containers.delete(container.state.id);
    this.report(container.state, 'destroy');
  }

  private halt({ state, log, output }: FakeContainer, exitCode: number): void {
    Object.assign(state, { status: 'exited', exitCode, finishedAt: this.stamp(), pid: null });
    this.report(state, 'die', exitCode);
    log.close();
    output.close();
  }

  report(state: ContainerState, action: RuntimeEvent['action'], exitCode: number | null = null): void {
    this.events.push({ action, containerId: state.id, labels: state.labels, exitCode, at: this.options.now() });
  }
}
