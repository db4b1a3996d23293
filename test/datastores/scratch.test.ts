import { beforeEach, expect, test } from 'bun:test';
import type { RaisedBy } from '#datastores/containers';
import { datastoreLabels } from '#datastores/labels';
import { createScratch, type ScratchDeps } from '#datastores/scratch';
import { type DatastoreInstance, PLACED, type Unit } from '#engines/datastores/port';
import { createFakeRuntime, type FakeRuntime } from '#test/fakes/runtime.ts';
import { describeInstance } from '#test/support/datastore.ts';
import { quiet } from '#test/engines/runtime/support.ts';

const IMAGE = 'postgres:17';
const NEVER = new AbortController().signal;

let runtime: FakeRuntime;
let taken: string[];
let settling: () => Promise<void>;
let deps: ScratchDeps;
const like = describeInstance({
  kind: 'postgres',
  id: 'ds_1',
  memoryMb: 4096,
  storageLimitMb: 10,
  labels: datastoreLabels('inst_1', { id: 'ds_1', project: 'shop', name: 'db' }),
});

const unitOf = (instance: DatastoreInstance): Unit => ({
  role: 'main',
  container: {
    name: `berth-${instance.id}`,
    image: IMAGE,
    env: {},
    labels: instance.labels,
    network: { name: instance.network, ip: instance.addresses.main ?? '', aliases: [instance.host] },
    loopbackPorts: [],
    mounts: [],
    volumes: [{ name: `berth-${instance.id}-main`, target: '/data', labels: instance.labels }],
    memoryBytes: instance.memoryMb * 1024 ** 2,
    cpus: 1,
    pidsLimit: 10,
    capAdd: [],
    readOnlyRoot: true,
    tmpfs: [],
    restart: 'unless-stopped',
    init: false,
    stopGraceSeconds: 1,
  },
});

const engine: RaisedBy & { roles: () => string[] } = {
  roles: () => ['main'],
  images: () => [IMAGE],
  units: (instance) => [unitOf(instance)],
  place: async () => PLACED,
  settle: () => settling(),
};

beforeEach(async () => {
  runtime = createFakeRuntime({ images: [IMAGE] });
  taken = [];
  settling = async () => undefined;
  let counter = 0;
  deps = {
    runtime,
    log: quiet,
    networks: {
      ensure: () =>
        runtime.ensureNetwork({
          name: like.network,
          subnet: '10.200.0.0/24',
          gateway: '10.200.0.1',
          bridge: 'b',
          labels: {},
          interContainer: true,
        }),
    },
    engineOf: () => engine,
    addresses: {
      reserve: () => {
        taken.push(`10.200.0.${50 + taken.length}`);
        return taken.at(-1) ?? '';
      },
      release: (_, ip) => {
        taken = taken.filter((other) => other !== ip);
      },
    },
    issue: async ({ host, address }) => ({ caPem: 'ca', certificatePem: `${host} ${address}`, keyPem: 'key' }),
    newName: () => `abcdefghi${(counter += 1)}`,
    newPassword: () => `password-${(counter += 1)}`,
  };
});

const nothingLeft = async (): Promise<void> => {
  expect(await runtime.list({})).toEqual([]);
  expect(await runtime.listVolumes({})).toEqual([]);
  expect(taken).toEqual([]);
};

test('a scratch instance shares neither id, address, host name, passwords nor certificate with the one it is like', async () => {
  const { instance, remove } = await createScratch(deps).start(like, NEVER);
  expect(instance).toMatchObject({
    id: 'ds_1-scratch-abcdefghi1',
    host: 'abcdefghi1.scratch.internal',
    addresses: { main: '10.200.0.50' },
    memoryMb: 1024,
    storageLimitMb: null,
    version: like.version,
    tls: { certificatePem: 'abcdefghi1.scratch.internal 10.200.0.50' },
  });
  const secrets = ({ adminPassword, readerPassword, writerPassword, credentials }: DatastoreInstance): string[] => [
    adminPassword,
    readerPassword,
    writerPassword,
    ...credentials.map(({ password }) => password),
  ];
  expect(new Set([...secrets(like), ...secrets(instance)]).size).toBe(8);
  const [container] = await runtime.list({
    'dev.berth.role': 'datastore-scratch',
    'dev.berth.datastore-id': instance.id,
  });
  expect(runtime.specOf(container?.id ?? '')).toMatchObject({ restart: 'no', memoryBytes: 1024 ** 3 });
  expect(await runtime.list({ 'dev.berth.datastore-id': like.id })).toEqual([]);
  await Promise.all([remove(), remove()]);
  await nothingLeft();
});

test('two at a time do not meet', async () => {
  const scratch = createScratch(deps);
  const [first, second] = await Promise.all([scratch.start(like, NEVER), scratch.start(like, NEVER)]);
  expect(first.instance.id).not.toBe(second.instance.id);
  await first.remove();
  expect(await runtime.list({})).toHaveLength(1);
  await second.remove();
  await nothingLeft();
});

test('one that does not settle, or is aborted meanwhile, leaves nothing', async () => {
  settling = () => Promise.reject(new Error('does not answer'));
  expect(await createScratch(deps).start(like, NEVER).catch(String)).toContain('does not answer');
  await nothingLeft();
  expect(
    await createScratch(deps)
      .start(like, AbortSignal.abort(new Error('enough')))
      .catch(String),
  ).toContain('enough');
  await nothingLeft();
});

test('without a free address nothing is begun', async () => {
  const addresses = {
    ...deps.addresses,
    reserve: () => {
      throw new Error('no free address');
    },
  };
  expect(
    await createScratch({ ...deps, addresses })
      .start(like, NEVER)
      .catch(String),
  ).toContain('no free address');
  await nothingLeft();
});
