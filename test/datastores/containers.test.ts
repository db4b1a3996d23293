import { beforeEach, describe, expect, test } from 'bun:test';
import { createDatastoreContainers, type DatastoreContainers, type RaisedBy } from '#datastores/containers';
import { DATASTORE_LABEL, datastoreLabels } from '#datastores/labels';
import type { DatastoreInstance, Unit } from '#engines/datastores/port';
import type { Runtime } from '#engines/runtime/port';
import { BerthError, messageOf } from '#kernel/errors';
import { createFakeRuntime, type FakeRuntime } from '#test/fakes/runtime.ts';
import { describeInstance } from '#test/support/datastore.ts';
import { quiet } from '#test/engines/runtime/support.ts';

const STORAGE = 'postgres:17';
const MAIN = 'ferretdb:1.24';
const NEWER = 'postgres:newer';
const NEVER = new AbortController().signal;

let runtime: FakeRuntime;
let containers: DatastoreContainers;
let instance: DatastoreInstance;
/** What the engine was asked to do, in order. */
let asked: string[];
let faults: Set<string>;

const unit = (of: DatastoreInstance, role: string, image: string, volumes: boolean): Unit => ({
  role,
  container: {
    name: `berth-${of.id}-${role}`,
    image,
    env: { MEMORY: String(of.memoryMb) },
    labels: of.labels,
    network: { name: of.network, ip: of.addresses[role] ?? '', aliases: role === 'main' ? [of.host] : [] },
    loopbackPorts: [],
    mounts: [],
    volumes: volumes ? [{ name: `berth-${of.id}-${role}`, target: '/data', labels: of.labels }] : [],
    memoryBytes: of.memoryMb * 1024 ** 2,
    cpus: of.cpus,
    pidsLimit: 100,
    capAdd: [],
    readOnlyRoot: true,
    tmpfs: [],
    restart: 'unless-stopped',
    init: false,
    stopGraceSeconds: 5,
  },
});

/** What goes on while a container starts. */
let filling = Promise.resolve();

/** Two containers of which the second stands on the first, as with mongo. */
const engine: RaisedBy = {
  images: () => [STORAGE, MAIN],
  units: (of) => [unit(of, 'storage', STORAGE, true), unit(of, 'main', MAIN, false)],
  place: async (_, { role, containerId, fresh }) => {
    fail(`place ${role}`);
    asked.push(`place ${role}${fresh ? ' fresh' : ''}`);
    expect((await runtime.inspect(containerId))?.status).not.toBe('running');
    return { rest: filling };
  },
  settle: async (of) => {
    fail('settle');
    asked.push('settle');
    for (const { running } of await runtime.list({ [DATASTORE_LABEL.id]: of.id })) expect(running).toBe(true);
  },
};

const fail = (step: string): void => {
  if (!faults.delete(step)) return;
  throw new BerthError('INTERNAL_ERROR', `${step} failed`, { hint: 'retry' });
};

beforeEach(() => {
  filling = Promise.resolve();
  asked = [];
  faults = new Set();
  runtime = createFakeRuntime({ images: [STORAGE, NEWER], pullable: [MAIN] });
  const networks = {
    ensure: (project: string) =>
      runtime.ensureNetwork({
        name: `berth-${project}`,
        subnet: '10.200.0.0/24',
        gateway: '10.200.0.1',
        bridge: 'b',
        labels: {},
        interContainer: true,
      }),
  };
  containers = createDatastoreContainers({ runtime, log: quiet, networks });
  const place = { id: 'ds_1', project: 'shop', name: 'documents' };
  instance = describeInstance({
    ...place,
    kind: 'mongo',
    addresses: { main: '10.200.0.9', storage: '10.200.0.10' },
    labels: datastoreLabels('inst_1', place),
  });
});

const raise = (of = instance, over: { anew?: boolean; pull?: boolean; signal?: AbortSignal } = {}): Promise<void> =>
  containers.raise(of, engine, { signal: NEVER, anew: false, ...over });

const state = async (): Promise<Record<string, string>> => {
  const found = await runtime.list({ [DATASTORE_LABEL.id]: instance.id });
  return Object.fromEntries(
    found.map(({ id, labels, running }) => [labels[DATASTORE_LABEL.unit] ?? '', `${id.slice(-4)} ${running}`]),
  );
};

const up = async (): Promise<void> => {
  const { containers: found, volumes } = await containers.find();
  expect(found.map(({ unit, running }) => ({ unit, running }))).toEqual([
    { unit: 'storage', running: true },
    { unit: 'main', running: true },
  ]);
  expect(volumes).toEqual([{ name: 'berth-ds_1-storage', datastore: 'ds_1', role: 'datastore' }]);
  for (const { id } of found) expect(runtime.specOf(id).restart).toBe('unless-stopped');
};

describe('raising a datastore', () => {
  test('makes its containers in order, settles them, and only then has them kept running', async () => {
    await raise();
    await up();
    expect(asked).toEqual(['place storage fresh', 'place main fresh', 'settle']);
    const last = runtime.calls.lastIndexOf('start');
    expect(runtime.calls.indexOf('keepRunning')).toBeGreaterThan(last);
    const [storage] = await runtime.list({ [DATASTORE_LABEL.unit]: 'storage' });
    expect(storage?.labels).toMatchObject({
      'dev.berth.instance': 'inst_1',
      'dev.berth.role': 'datastore',
      'dev.berth.project': 'shop',
      'dev.berth.datastore': 'documents',
      'dev.berth.datastore-id': 'ds_1',
    });
  });
  test('starts a container while its files are still put in, and settles when both are done', async () => {
    const files = Promise.withResolvers<void>();
    filling = files.promise;
    const raising = raise();
    while (!runtime.calls.includes('start')) await Bun.sleep(1);
    expect(asked).toEqual(['place storage fresh']);
    files.resolve();
    await raising;
    await up();
  });
  test('fails when its files could not be put in, also when it started', async () => {
    const files = Promise.withResolvers<void>();
    filling = files.promise;
    const raising = raise();
    while (!runtime.calls.includes('start')) await Bun.sleep(1);
    files.reject(new Error('no space left'));
    expect(await raising.catch(messageOf)).toBe('no space left');
    expect(asked).not.toContain('settle');
  });
  test('that is up disturbs nothing, and settles again', async () => {
    await raise();
    const before = await state();
    asked = [];
    await raise();
    expect(await state()).toEqual(before);
    expect(asked).toEqual(['settle']);
  });
  test('starts again what has stopped, with its files put in again', async () => {
    await raise();
    const before = await state();
    const [main] = await runtime.list({ [DATASTORE_LABEL.unit]: 'main' });
    await runtime.stop(main?.id ?? '', 1);
    asked = [];
    await raise();
    expect(await state()).toEqual(before);
    expect(asked).toEqual(['place main', 'settle']);
  });
  test('whose limits have changed makes the containers anew on the same volume', async () => {
    await raise();
    const before = await state();
    asked = [];
    await raise({ ...instance, memoryMb: 512 });
    await up();
    expect(Object.values(await state())).not.toEqual(Object.values(before));
    expect(asked).toEqual(['place storage', 'place main fresh', 'settle']);
    const [main] = await runtime.list({ [DATASTORE_LABEL.unit]: 'main' });
    expect(runtime.specOf(main?.id ?? '').memoryBytes).toBe(512 * 1024 ** 2);
  });
  test('whose passwords have changed leaves the containers alone', async () => {
    await raise();
    const before = await state();
    await raise({ ...instance, adminPassword: 'another', credentials: [] });
    expect(await state()).toEqual(before);
  });
  test('whose labels another version of berth would choose otherwise leaves the containers alone', async () => {
    await raise();
    const before = await state();
    await raise({ ...instance, labels: { ...instance.labels, 'dev.berth.new': 'yes' } });
    expect(await state()).toEqual(before);
  });
  test('anew does so in any case, what apps connect to going down first', async () => {
    await raise();
    const before = await state();
    const [main] = await runtime.list({ [DATASTORE_LABEL.unit]: 'main' });
    const stopped: string[] = [];
    const watching: Runtime = { ...runtime, stop: (id, grace) => (stopped.push(id), runtime.stop(id, grace)) };
    const watched = createDatastoreContainers({
      runtime: watching,
      log: quiet,
      networks: { ensure: async () => undefined },
    });
    await watched.raise(instance, engine, { signal: NEVER, anew: true });
    await up();
    expect(stopped[0]).toBe(main?.id ?? '');
    expect(stopped).toHaveLength(2);
    expect(Object.values(await state())).not.toEqual(Object.values(before));
  });
  test('goes on with the image that is there when no newer one can be had', async () => {
    await raise();
    await raise(instance, { anew: true, pull: true });
    await up();
    expect(runtime.calls.filter((call) => call === 'pullImage')).toHaveLength(2);
  });
  test('makes the containers anew when their image is another one by now', async () => {
    await raise();
    const before = await state();
    await runtime.tagImage(MAIN, STORAGE);
    await raise();
    const after = await state();
    expect(after.storage).not.toBe(before.storage);
    expect(after.main).toBe(before.main);
  });
  test('twice at once, as when one is restarted while it is healed, goes one after the other', async () => {
    await raise();
    asked = [];
    await Promise.all([raise(), raise(instance, { anew: true })]);
    expect(asked).toEqual(['settle', 'place storage', 'place main fresh', 'settle']);
    await up();
    const first = raise();
    const given = new AbortController();
    const second = raise(instance, { signal: given.signal });
    given.abort(new Error('canceled'));
    expect(await second.catch(String)).toContain('canceled');
    await first;
  });
  test('stops where it is aborted', async () => {
    const reason = new Error('berth stops');
    expect(await raise(instance, { signal: AbortSignal.abort(reason) }).catch((error: unknown) => error)).toBe(reason);
    expect(await containers.find()).toEqual({ containers: [], volumes: [] });
  });
});

/** The engine's own calls go past it. */
const dyingAt = (step: number, when: 'before' | 'after'): Runtime => {
  let left = step;
  return new Proxy(runtime, {
    get: (target, name, receiver) => {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      return async (...input: unknown[]): Promise<unknown> => {
        left -= 1;
        if (left >= 0) return await (value as (...input: unknown[]) => unknown)(...input);
        if (when === 'after' && left === -1) await (value as (...input: unknown[]) => unknown)(...input);
        throw new BerthError('INTERNAL_ERROR', 'killed', { hint: 'retry' });
      };
    },
  });
};

describe('a crash while a datastore is raised for the first time', () => {
  test.each(['place storage', 'place main', 'settle'])('in "%s" is made good by the next attempt', async (step) => {
    faults.add(step);
    expect(await raise().catch(String)).toContain(`${step} failed`);
    asked = [];
    await raise();
    await up();
    // What may be half filled is thrown away; what has run is data.
    expect(asked.includes('place storage fresh')).toBe(step === 'place storage');
  });
  test.each(['before', 'after'] as const)('%s any call to Docker is made good by the next attempt', async (when) => {
    let survived = false;
    let deaths = 0;
    for (; !survived; deaths += 1) {
      const dying = createDatastoreContainers({
        runtime: dyingAt(deaths, when),
        log: quiet,
        networks: { ensure: async () => undefined },
      });
      const end = await dying.raise(instance, engine, { signal: NEVER, anew: false }).catch(String);
      survived = end === undefined;
      if (!survived) expect(end).toContain('killed');
      await raise();
      await up();
      await containers.lower(instance, { data: true });
      expect(await containers.find()).toEqual({ containers: [], volumes: [] });
    }
    expect(deaths).toBeGreaterThan(10);
  });
  test('never throws a volume away that has served before', async () => {
    await raise();
    faults.add('place storage');
    expect(await raise(instance, { anew: true }).catch(String)).toContain('failed');
    const calls = runtime.calls.length;
    await raise();
    await up();
    expect(runtime.calls.slice(calls)).not.toContain('removeVolume');
  });
});

describe('lowering a datastore', () => {
  test('keeps the data, and takes nothing of others', async () => {
    await raise();
    const other = { ...instance, id: 'ds_2', addresses: { main: '10.200.0.19', storage: '10.200.0.20' } };
    await raise(other);
    await containers.lower(instance, { data: false });
    await containers.lower(instance, { data: false });
    const { containers: left, volumes } = await containers.find();
    expect(left.map(({ datastore }) => datastore)).toEqual(['ds_2', 'ds_2']);
    expect(volumes.map(({ datastore }) => datastore).toSorted()).toEqual(['ds_1', 'ds_2']);
    asked = [];
    await raise();
    expect(asked).toEqual(['place storage', 'place main fresh', 'settle']);
  });
  test('with its data leaves nothing, jobs included', async () => {
    await raise();
    const { container } = unit(instance, 'job', STORAGE, false);
    await runtime.create({ ...container, labels: { ...instance.labels, 'dev.berth.role': 'datastore-job' } });
    await containers.lower(instance, { data: true });
    await containers.lower(instance, { data: true });
    expect(await containers.find()).toEqual({ containers: [], volumes: [] });
  });
});

test('what an earlier run has left half-way is cleared, datastores and their data are not', async () => {
  await raise();
  const left = (role: string, name: string, volumes: boolean): ReturnType<Runtime['create']> => {
    const { container } = unit({ ...instance, id: name }, 'x', STORAGE, volumes);
    const labels = { ...instance.labels, 'dev.berth.role': role };
    return runtime.create({
      ...container,
      labels,
      volumes: container.volumes.map((volume) => ({ ...volume, labels })),
    });
  };
  await left('datastore-job', 'job', false);
  await left('datastore-scratch', 'scratch', true);
  await left('datastore', 'helper', false);
  await containers.clear();
  await up();
});

test('names of images can be put back to what containers were made from', async () => {
  await raise();
  const had = await containers.imagesOf(instance, engine);
  expect(had.map(({ name }) => name)).toEqual([STORAGE, MAIN]);
  // Without a name it would stay too, which the fake does not know.
  await runtime.tagImage(STORAGE, 'postgres:kept');
  await runtime.tagImage(NEWER, STORAGE);
  const kept = await runtime.inspectImage(NEWER);
  runtime.calls.length = 0;
  await containers.putImagesBack([...had, { name: NEWER, id: kept?.id ?? '' }]);
  expect((await runtime.inspectImage(STORAGE))?.id).toBe(had[0]?.id ?? '');
  // Those that are as they were are left alone.
  expect(runtime.calls.filter((call) => call === 'tagImage')).toHaveLength(1);
});
