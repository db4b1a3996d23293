import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatastoreContainers, type DatastoreContainers, type RaiseOptions } from '#datastores/containers';
import { datastoreLabels, JOB_LABELS } from '#datastores/labels';
import { createScratch } from '#datastores/scratch';
import { createAuthority, issueCertificate } from '#engines/datastores/certificates';
import { createJobs } from '#engines/datastores/jobs';
import type { DatastoreEngine, DatastoreInstance, DatastoreKind, Jobs, Scratch } from '#engines/datastores/port';
import type { Labels, Runtime } from '#engines/runtime/port';
import { type Clock, systemClock } from '#kernel/clock';
import type { Log } from '#kernel/log';
import { type Lab, openLab, quiet } from '#test/engines/runtime/support.ts';

/** An instance as it could be, with an id and passwords of its own. */
export const describeInstance = (
  over: Partial<DatastoreInstance> & Pick<DatastoreInstance, 'kind'>,
): DatastoreInstance => ({
  id: `ds_${randomName()}`,
  project: 'shop',
  name: 'db',
  version: '17',
  host: `${over.name ?? 'db'}.db.internal`,
  network: 'berth-shop',
  gateway: '10.200.0.1',
  addresses: { main: '10.200.0.9' },
  memoryMb: 256,
  cpus: 1,
  storageLimitMb: null,
  adminPassword: randomName(),
  readerPassword: randomName(),
  writerPassword: randomName(),
  credentials: [{ user: 'app_first', password: randomName() }],
  tls: { caPem: '', certificatePem: '', keyPem: '' },
  labels: {},
  ...over,
});

const randomName = (): string => randomBytes(8).toString('hex');

/** What an engine is made with. */
export interface EngineParts {
  runtime: Runtime;
  clock: Clock;
  log: Log;
  jobs: Jobs;
  scratch: Scratch;
  templateDir: string;
  templateLabels: Labels;
}

export interface DatastoreKit<Engine extends DatastoreEngine> extends EngineParts {
  engine: Engine;
  instance: DatastoreInstance;
  containers: DatastoreContainers;
  lab: Lab;
  /** Another one in the same network, with its own id, addresses, passwords and certificate; not yet raised. */
  another(over?: Partial<DatastoreInstance>): Promise<DatastoreInstance>;
  raise(instance?: DatastoreInstance, options?: Partial<RaiseOptions>): Promise<void>;
  /** An address that nothing in the network has. */
  freeAddress(): string;
  cleanUp(): Promise<void>;
}

export interface KitOptions extends Partial<DatastoreInstance> {
  kind: DatastoreKind;
}

/** Generous: a busy machine may take its time. */
const RAISE_MS = 120_000;

/**
 * Makes an engine on the real Docker, and raises an instance with it in a network of its own as berth does. Share it among the
 * tests of a file; `cleanUp` leaves nothing.
 */
export const startDatastore = async <Engine extends DatastoreEngine>(
  factory: (parts: EngineParts) => Engine,
  options: KitOptions,
): Promise<DatastoreKit<Engine>> => {
  const lab = openLab();
  const templateDir = await mkdtemp(join(tmpdir(), 'berth-test-templates-'));
  const cleanUp = async (): Promise<void> => {
    await lab.cleanUp();
    await rm(templateDir, { recursive: true, force: true });
  };
  try {
    const kit = await openKit(factory, options, { lab, templateDir });
    await kit.raise();
    return { ...kit, cleanUp };
  } catch (error) {
    await cleanUp();
    throw error;
  }
};

const openKit = async <Engine extends DatastoreEngine>(
  factory: (parts: EngineParts) => Engine,
  options: KitOptions,
  { lab, templateDir }: { lab: Lab; templateDir: string },
): Promise<Omit<DatastoreKit<Engine>, 'cleanUp'>> => {
  const network = await lab.addNetwork('d');
  const authority = await createAuthority(Date.now());
  const issue: Parameters<typeof createScratch>[0]['issue'] = (names) =>
    issueCertificate(authority, { ...names, now: Date.now() });
  const taken = new Set<number>();
  const freeAddress = (): string => {
    let last = 2;
    while (taken.has(last)) last += 1;
    taken.add(last);
    return network.gateway.replace(/\.1$/, `.${last}`);
  };
  const addresses = {
    reserve: freeAddress,
    release: (_: DatastoreInstance, ip: string) => void taken.delete(Number(ip.split('.').at(-1))),
  };
  const common = { runtime: lab.runtime, clock: systemClock, log: quiet, networks: { ensure: async () => undefined } };
  const containers = createDatastoreContainers(common);
  const pipesDir = join(lab.dir, 'pipes');
  const jobs = createJobs({ ...common, addresses, labels: JOB_LABELS, newName: randomName, pipesDir });
  let engine: Engine | undefined;
  const made = (): Engine => {
    if (engine === undefined) throw new Error('the engine is not made yet');
    return engine;
  };
  const scratch = createScratch({
    ...common,
    addresses,
    issue,
    engineOf: made,
    newName: randomName,
    newPassword: randomName,
  });
  const parts: EngineParts = {
    runtime: lab.runtime,
    clock: systemClock,
    log: quiet,
    jobs,
    scratch,
    templateDir,
    templateLabels: {},
  };
  engine = factory(parts);

  const another = async (over: Partial<DatastoreInstance> = {}): Promise<DatastoreInstance> => {
    const base = describeInstance({
      version: made().versions[0] ?? '',
      network: network.name,
      gateway: network.gateway,
      addresses: Object.fromEntries(
        made()
          .roles()
          .map((role) => [role, freeAddress()]),
      ),
      ...options,
      ...over,
    });
    const tls = await issue({ host: base.host, address: base.addresses.main ?? '' });
    return { ...base, tls, labels: datastoreLabels(lab.prefix, base), ...over };
  };
  const instance = await another();
  const raise: DatastoreKit<Engine>['raise'] = (of = instance, over = {}) =>
    containers.raise(of, made(), { signal: AbortSignal.timeout(RAISE_MS), anew: false, ...over });
  return { ...parts, engine, instance, containers, lab, another, raise, freeAddress };
};
