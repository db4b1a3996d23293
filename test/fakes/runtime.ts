import { BerthError, conflict, notFound } from '#kernel/errors';
import { carries } from '#engines/runtime/labels';
import type { ContainerSpec, Labels, LogOptions, Runtime, RuntimeEvent, RuntimeLogLine } from '#engines/runtime/port';
import type { Feed } from './feed.ts';
import { type FakeContainer, FakeEngine, type FakeFile, type FakeRuntimeOptions } from './runtime-engine.ts';
import { streamView } from './runtime-streams.ts';

export type { FakeProgram, FakeRuntimeOptions } from './runtime-engine.ts';

/** The engine in memory, with handles for tests. */
export interface FakeRuntime extends Runtime {
  /** The next call of `method` fails: with `error`, else as when Docker is away. */
  failNext(method: keyof Runtime, error?: BerthError): void;
  /** Names of the calls made so far, in order. */
  readonly calls: (keyof Runtime)[];
  /** The spec that the container was made from. */
  specOf(id: string): ContainerSpec;
  /** A file that was put into the container, or into a volume of it. */
  fileOf(id: string, path: string): FakeFile | undefined;
  /** Writes a line to the container's log. */
  say(id: string, line: string, stream?: 'stdout' | 'stderr'): void;
  /** Ends the container's process by itself, as a crash does. */
  crash(id: string, exitCode: number, oomKilled?: boolean): void;
  /** The same engine as another installation sees it. */
  as(installation: Labels): Runtime;
}

export const createFakeRuntime = (options: FakeRuntimeOptions = {}): FakeRuntime => {
  const engine = new FakeEngine(options);
  const faults = new Map<keyof Runtime, BerthError[]>();
  const calls: (keyof Runtime)[] = [];
  const enter = (method: keyof Runtime): void => {
    calls.push(method);
    const fault = faults.get(method)?.shift();
    if (fault !== undefined) throw fault;
  };
  const must = (id: string): FakeContainer => {
    const found = engine.containers.get(id);
    if (found === undefined) throw notFound(`no container ${id}`, 'it is gone or was never there');
    return found;
  };
  return {
    ...view(engine, {}, enter),
    as: (installation) => view(engine, installation, enter),
    failNext: (method, error = dockerIsAway()) => {
      faults.set(method, [...(faults.get(method) ?? []), error]);
    },
    calls,
    specOf: (id) => must(id).spec,
    fileOf: (id, path) => engine.filesAt(must(id), path).get(path),
    say: (id, line, stream = 'stdout') => engine.say(must(id), stream, line),
    crash: (id, exitCode, oomKilled = false) => engine.end(must(id), exitCode, oomKilled),
  };
};

const dockerIsAway = (): BerthError =>
  new BerthError('INTERNAL_ERROR', 'Docker is not reachable', { hint: 'see: berth doctor', retryable: true });

const view = (engine: FakeEngine, installation: Labels, enter: (method: keyof Runtime) => void): Runtime => {
  const find = (id: string): FakeContainer | undefined => {
    const found = engine.containers.get(id);
    return found !== undefined && carries(found.state.labels, installation) ? found : undefined;
  };
  const must = (id: string): FakeContainer => {
    const found = find(id);
    if (found === undefined) throw notFound(`no container ${id}`, 'it is gone or was never there');
    return found;
  };
  return {
    ...containerView(engine, { installation, enter, find, must }),
    ...streamView(engine, { installation, enter, must }),
    ...networkView(engine, installation, enter),
    ...imageView(engine, enter),
    info: async () => {
      enter('info');
      return {
        engine: 'fake',
        version: '1.0',
        apiVersion: '1.41',
        cpus: 2,
        memoryBytes: 8 * 1024 ** 3,
        containersRunning: [...engine.containers.values()].filter(({ state }) => state.status === 'running').length,
        dockerRootDir: '/var/lib/docker',
        cgroupDriver: 'cgroupfs',
        cgroupVersion: '2',
      };
    },
  };
};

interface Access {
  installation: Labels;
  enter: (method: keyof Runtime) => void;
  find: (id: string) => FakeContainer | undefined;
  must: (id: string) => FakeContainer;
}

type ContainerView = Pick<
  Runtime,
  | 'create'
  | 'start'
  | 'keepRunning'
  | 'updateResources'
  | 'stop'
  | 'remove'
  | 'inspect'
  | 'list'
  | 'logs'
  | 'usage'
  | 'events'
>;

const containerView = (engine: FakeEngine, { installation, enter, find, must }: Access): ContainerView => ({
  create: async (spec) => {
    enter('create');
    return engine.create({
      ...spec,
      labels: { ...spec.labels, ...installation },
      volumes: spec.volumes.map((volume) => ({ ...volume, labels: { ...volume.labels, ...installation } })),
    });
  },
  start: async (id) => {
    enter('start');
    engine.start(must(id));
  },
  keepRunning: async (id) => {
    enter('keepRunning');
    must(id).spec.restart = 'unless-stopped';
  },
  updateResources: async (id, resources) => {
    enter('updateResources');
    Object.assign(must(id).spec, resources);
  },
  stop: async (id) => {
    enter('stop');
    const found = find(id);
    if (found !== undefined) engine.stop(found);
  },
  remove: async (id) => {
    enter('remove');
    const found = find(id);
    if (found !== undefined) engine.remove(found);
  },
  inspect: async (id) => {
    enter('inspect');
    const found = find(id);
    return found === undefined ? undefined : { ...found.state };
  },
  list: async (labels) => {
    enter('list');
    return [...engine.containers.values()]
      .filter(({ state }) => carries(state.labels, { ...labels, ...installation }))
      .map(({ state: { id, name, labels, status } }) => ({ id, name, labels, running: status === 'running' }));
  },
  async *logs(id, options) {
    enter('logs');
    yield* select(must(id).log, options);
  },
  usage: async (ids) => {
    enter('usage');
    const running = ids.filter((id) => find(id)?.state.status === 'running');
    return new Map(running.map((id) => [id, { cpuSeconds: 0.5, memoryBytes: 1024 ** 2 }]));
  },
  events: (labels, signal) => {
    enter('events');
    return watch(engine, { ...labels, ...installation }, { from: engine.events.items.length, signal });
  },
});

async function* watch(
  engine: FakeEngine,
  labels: Labels,
  { from, signal }: { from: number; signal: AbortSignal },
): AsyncGenerator<RuntimeEvent> {
  for await (const event of engine.events.read({ follow: true, from, signal })) {
    if (carries(event.labels, labels)) yield event;
  }
}

async function* select(
  log: Feed<RuntimeLogLine>,
  { follow, since, tail, signal }: LogOptions,
): AsyncGenerator<RuntimeLogLine> {
  const after = log.items.filter(({ ts }) => since === undefined || ts > since);
  const skip = log.items.length - (tail === undefined ? after.length : Math.min(tail, after.length));
  yield* log.read({ follow, from: skip, signal });
}

type NetworkView = Pick<Runtime, 'ensureNetwork' | 'removeNetwork' | 'listNetworks' | 'usedSubnets'>;

const networkView = (engine: FakeEngine, installation: Labels, enter: Access['enter']): NetworkView => ({
  ensureNetwork: async (spec) => {
    enter('ensureNetwork');
    const found = engine.networks.get(spec.name);
    if (found !== undefined && found.subnet !== spec.subnet) {
      throw conflict(`a network ${spec.name} is there already, with subnet ${found.subnet}`, 'choose another name');
    }
    if (found !== undefined) return;
    if ([...engine.networks.values()].some(({ subnet }) => subnet === spec.subnet)) {
      throw conflict(`Pool overlaps with other one on this address space: ${spec.subnet}`, 'choose another', true);
    }
    engine.networks.set(spec.name, { ...spec, labels: { ...spec.labels, ...installation } });
  },
  removeNetwork: async (name) => {
    enter('removeNetwork');
    const found = engine.networks.get(name);
    if (found === undefined) return;
    if (!carries(found.labels, installation)) throw notFound(`no network ${name} of this installation`, 'check it');
    const busy = [...engine.containers.values()].some(
      ({ spec, state }) => typeof spec.network !== 'string' && spec.network.name === name && state.status === 'running',
    );
    if (busy) throw conflict(`network ${name} has active endpoints`, 'remove its containers first', true);
    engine.networks.delete(name);
  },
  listNetworks: async (labels) => {
    enter('listNetworks');
    return [...engine.networks.values()]
      .filter((network) => carries(network.labels, { ...labels, ...installation }))
      .map(({ name, subnet, labels }) => ({ name, subnet, labels }));
  },
  usedSubnets: async () => {
    enter('usedSubnets');
    return [...engine.networks.values()].map(({ subnet }) => subnet);
  },
});

type ImageView = Pick<
  Runtime,
  'inspectImage' | 'ensureImage' | 'pullImage' | 'tagImage' | 'imageNames' | 'removeImage'
>;

const imageView = (engine: FakeEngine, enter: Access['enter']): ImageView => ({
  inspectImage: async (ref) => {
    enter('inspectImage');
    return engine.images.get(ref);
  },
  ensureImage: async (ref) => {
    enter('ensureImage');
    const found = engine.images.get(ref);
    if (found !== undefined) return found;
    if (!engine.options.pullable.includes(ref)) throw notFound(`image ${ref} cannot be pulled`, 'check its name');
    return engine.addImage(ref);
  },
  pullImage: async (ref) => {
    enter('pullImage');
    if (!engine.options.pullable.includes(ref)) throw notFound(`image ${ref} cannot be pulled`, 'check its name');
    return engine.addImage(ref);
  },
  tagImage: async (ref, target) => {
    enter('tagImage');
    const found = engine.images.get(ref) ?? [...engine.images.values()].find(({ id }) => id === ref);
    if (found === undefined) throw notFound(`No such image: ${ref}`, 'check its name');
    engine.images.set(target, found);
  },
  imageNames: async (prefix) => {
    enter('imageNames');
    return [...engine.images.keys()].filter((name) => name.startsWith(prefix));
  },
  removeImage: async (ref) => {
    enter('removeImage');
    const found = engine.images.get(ref);
    const lastTag = [...engine.images.values()].filter((image) => image.id === found?.id).length === 1;
    const used = [...engine.containers.values()].some(({ spec }) => engine.images.get(spec.image)?.id === found?.id);
    if (!(used && lastTag)) engine.images.delete(ref);
  },
});
