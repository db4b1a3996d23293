import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import type { ContainerSpec, ContainerSummary, Runtime } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import type { RegistryApi } from './api.ts';
import {
  collectorSpec,
  configDir,
  dataDir,
  type RegistryNetwork,
  type RegistryPlace,
  registryConfig,
  registrySpec,
  ROLE_LABEL,
  SPEC_LABEL,
} from './container.ts';

const START_DEADLINE_MS = 30_000;
const HUNG_AFTER_MS = 10_000;
const COLLECT_DEADLINE_MS = 30 * 60_000;
const POLL_MS = 50;

export interface LifecycleOptions {
  runtime: Runtime;
  api: RegistryApi;
  place: RegistryPlace;
  otherNetwork: () => Promise<RegistryNetwork | undefined>;
  clock: Clock;
}

/** The registry's container, and that of its collector. */
export interface Lifecycle {
  ensure(): Promise<void>;
  /** Runs the collector to its end. */
  collect(): Promise<void>;
}

export const createLifecycle = (options: LifecycleOptions): Lifecycle => {
  let ensuring: Promise<void> | undefined;
  let { place } = options;
  const ensureAll = async (): Promise<void> => {
    place = await ensureNetwork({ ...options, place });
    await ensure({ ...options, place });
  };
  return {
    ensure: async () => {
      ensuring ??= ensureAll().finally(() => {
        ensuring = undefined;
      });
      await ensuring;
    },
    collect: () => collect({ ...options, place }),
  };
};

/** Makes the network when it is missing, and returns the place as it is then. */
const ensureNetwork = async ({ runtime, place, otherNetwork }: LifecycleOptions): Promise<RegistryPlace> => {
  try {
    await runtime.ensureNetwork(place.network);
    return place;
  } catch (error) {
    const other = error instanceof BerthError && error.kind === 'CONFLICT' ? await otherNetwork() : undefined;
    if (other === undefined) throw error;
    await runtime.ensureNetwork(other.network);
    return { ...place, ...other };
  }
};

const ensure = async (options: LifecycleOptions): Promise<void> => {
  const { runtime, place } = options;
  const spec = registrySpec(place);
  await makeDataDir(place);
  await writeConfig(place.dir);
  // A collector that outlived its berth must not work beside new pushes.
  await removeAll(options, 'registry-collector', () => true);
  await removeAll(options, 'registry', (labels) => labels[SPEC_LABEL] !== spec.labels[SPEC_LABEL]);
  const [present] = await runtime.list({ ...place.labels, [ROLE_LABEL]: 'registry' });
  if (present !== undefined) {
    if (await revives(options, present)) return;
    // Its data is on the host, so another one can take its place.
    await runtime.remove(present.id);
  }
  await createAndStart(options, spec);
  if (!(await answersWithin(options, START_DEADLINE_MS))) {
    throw unwell(`the image registry did not start within ${START_DEADLINE_MS / 1000} s`);
  }
};

const createAndStart = async ({ runtime }: LifecycleOptions, spec: ContainerSpec): Promise<string> => {
  await runtime.ensureImage(spec.image);
  const { id } = await runtime.create(spec);
  await runtime.start(id);
  return id;
};

const removeAll = async (
  { runtime, place }: LifecycleOptions,
  role: string,
  isStale: (labels: Record<string, string>) => boolean,
): Promise<void> => {
  for (const { id, labels } of await runtime.list({ ...place.labels, [ROLE_LABEL]: role })) {
    if (isStale(labels)) await runtime.remove(id);
  }
};

/** The registry runs without root's powers: its directory must belong to its user. */
const makeDataDir = async ({ dir, user }: RegistryPlace): Promise<void> => {
  await mkdir(dataDir(dir), { recursive: true, mode: 0o700 });
  const [uid = 0, gid = 0] = user.split(':').map(Number);
  if ((await stat(dataDir(dir))).uid !== uid) await chown(dataDir(dir), uid, gid);
};

const writeConfig = async (dir: string): Promise<void> => {
  const file = `${configDir(dir)}/config.yml`;
  await mkdir(configDir(dir), { recursive: true });
  const present = await readFile(file, 'utf8').catch(() => undefined);
  if (present !== registryConfig()) await writeFile(file, registryConfig());
  // The registry's user reads it, whatever umask berth was started with.
  await chmod(configDir(dir), 0o755);
  await chmod(file, 0o644);
};

/** Whether the container that is there serves, started if need be. */
const revives = async (options: LifecycleOptions, { id, running }: ContainerSummary): Promise<boolean> => {
  const state = await options.runtime.inspect(id);
  if (state?.status === 'paused' || state?.status === 'dead') return false;
  if (!running) await options.runtime.start(id);
  return answersWithin(options, HUNG_AFTER_MS);
};

const answersWithin = async ({ api, clock }: LifecycleOptions, ms: number): Promise<boolean> => {
  const begun = clock.monotonic();
  while (!(await api.answers())) {
    if (clock.monotonic() - begun > ms) return false;
    await clock.sleep(POLL_MS);
  }
  return true;
};

const collect = async (options: LifecycleOptions): Promise<void> => {
  const { runtime, clock } = options;
  await removeAll(options, 'registry-collector', () => true);
  const id = await createAndStart(options, collectorSpec(options.place));
  try {
    const begun = clock.monotonic();
    for (;;) {
      const state = await runtime.inspect(id);
      if (state === undefined) throw unwell('the collector of the image registry vanished');
      if (state.status === 'exited' || state.status === 'dead') {
        if (state.exitCode !== 0) throw unwell(`the collection failed: ${await lastLines(runtime, id)}`);
        return;
      }
      if (clock.monotonic() - begun > COLLECT_DEADLINE_MS) throw unwell('the collection takes too long');
      await clock.sleep(POLL_MS);
    }
  } finally {
    await runtime.remove(id);
  }
};

const lastLines = async (runtime: Runtime, id: string): Promise<string> => {
  const lines: string[] = [];
  for await (const { line } of runtime.logs(id, { follow: false, tail: 5 })) lines.push(line);
  return lines.join(' / ');
};

const unwell = (message: string): BerthError =>
  new BerthError('INTERNAL_ERROR', message, { hint: 'retry; if it persists, see: berth doctor', retryable: true });
