import type { Proxy, TrafficSeries } from '#engines/proxy/port';
import type { ContainerUsage, Runtime } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import { messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { Liveness, ReplicaRow, ServiceStore } from '#modules/services';
import { createCounter, createTrafficCounter, type Traffic } from './counters.ts';
import type { ReplicaPoint, UsagePoint } from './model.ts';
import type { Recorder } from './recorder.ts';
import { NOTHING, type Sample } from './sample.ts';
import type { SeriesKey } from './store.ts';
import { pointOf, replicaPointOf } from './view.ts';

/** What was measured of a service since the reading before. */
export interface Reading {
  point: UsagePoint;
  replicas: { name: string; point: ReplicaPoint }[];
}

/** Measures what services use: all of them together, and more often while somebody looks. */
export interface Sampler {
  /** Until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Calls back with each reading of the service from now on. */
  watch(project: string, service: string, send: (reading: Reading) => void): () => void;
}

export interface SamplerDeps {
  clock: Clock;
  log: Log;
  runtime: Pick<Runtime, 'usage'>;
  proxy: Pick<Proxy, 'traffic'>;
  services: Pick<ServiceStore, 'all'> & { replicas: Pick<ServiceStore['replicas'], 'all'> };
  liveness: Pick<Liveness, 'restarts'>;
  recorder: Recorder;
}

const USUAL_MS = 15_000;
const WATCHED_MS = 5000;

interface Measured {
  key: SeriesKey;
  sample: Sample;
}

export const createSampler = (deps: SamplerDeps): Sampler => {
  const { clock, log } = deps;
  const measure = createMeasurement(deps);
  const watchers = new Map<string, Set<(reading: Reading) => void>>();
  let pause = new AbortController();
  let failing = false;

  const tell = (measured: readonly Measured[], at: number): void => {
    if (watchers.size === 0) return;
    const byService = Map.groupBy(measured, ({ key }) => `${key.project}/${key.service}`);
    for (const [name, sends] of watchers) {
      const parts = byService.get(name);
      const whole = parts?.find(({ key }) => key.replica === '');
      if (parts === undefined || whole === undefined) continue;
      const replicas = parts
        .filter(({ key }) => key.replica !== '')
        .map(({ key, sample }) => ({ name: key.replica, point: replicaPointOf(sample, at) }));
      const reading = { point: pointOf(whole.sample, at), replicas };
      for (const send of sends) send(reading);
    }
  };
  const sampleOnce = async (): Promise<void> => {
    try {
      const measured = await measure();
      const now = clock.now();
      deps.recorder.record(measured, now);
      tell(measured, now);
      failing = false;
    } catch (thrown) {
      // The next one may succeed: the engine restarts, the disk has room again.
      if (!failing) log.warn('cannot measure what services use; trying again', { reason: messageOf(thrown) });
      failing = true;
    }
  };

  return {
    run: async (signal) => {
      while (!signal.aborted) {
        await sampleOnce();
        pause = new AbortController();
        await clock.sleep(watchers.size > 0 ? WATCHED_MS : USUAL_MS, AbortSignal.any([signal, pause.signal]));
      }
    },
    watch: (project, service, send) => {
      const name = `${project}/${service}`;
      if (watchers.size === 0) pause.abort();
      const sends = watchers.get(name) ?? new Set();
      watchers.set(name, sends.add(send));
      return () => {
        sends.delete(send);
        if (sends.size === 0 && watchers.get(name) === sends) watchers.delete(name);
      };
    },
  };
};

/** One reading of everything: a sample for each service and each of its replicas. */
const createMeasurement = ({ clock, runtime, proxy, services, liveness }: SamplerDeps): (() => Promise<Measured[]>) => {
  const traffic = createTrafficCounter();
  const cpu = createCounter();
  const restarts = createCounter();
  let last: number | undefined;

  return async () => {
    const rows = services.replicas.all().filter(({ state }) => state === 'live');
    // While the proxy is away nothing passes; what containers use can be read all the same.
    const [series, usage] = await Promise.all([
      proxy.traffic().catch((): TrafficSeries[] | undefined => undefined),
      runtime.usage(rows.map(({ container_id: id }) => id)),
    ]);
    const now = clock.monotonic();
    const covered = last === undefined ? 0 : now - last;
    last = now;
    const passed = series === undefined ? new Map<string, Traffic>() : traffic.added(series);
    const spent = cpu.added(new Map([...usage].map(([id, { cpuSeconds }]) => [id, cpuSeconds])));
    const again = restarts.added(new Map(rows.map(({ container_id: id }) => [id, liveness.restarts(id)])));
    if (covered === 0) return [];
    const byService = Map.groupBy(rows, ({ project, service }) => `${project}/${service}`);
    return services.all().flatMap(({ project, name }) => {
      const own = (byService.get(`${project}/${name}`) ?? []).map((row) =>
        replicaSample(row, { covered, usage: usage.get(row.container_id), spent, again }),
      );
      const sample = serviceSample(covered, own, passed.get(`${project}/${name}`));
      return [
        { key: { project, service: name, replica: '' }, sample },
        ...own.filter(({ sample: each }) => each.replicas > 0),
      ];
    });
  };
};

interface ReplicaParts {
  covered: number;
  usage: ContainerUsage | undefined;
  spent: ReadonlyMap<string, number>;
  again: ReadonlyMap<string, number>;
}

const replicaSample = (row: ReplicaRow, { covered, usage, spent, again }: ReplicaParts): Measured => ({
  key: { project: row.project, service: row.service, replica: row.name },
  sample: {
    ...NOTHING,
    covered,
    cpuSeconds: usage === undefined ? null : (spent.get(row.container_id) ?? 0),
    memoryBytes: usage?.memoryBytes ?? null,
    replicas: usage === undefined ? 0 : 1,
    restarts: again.get(row.container_id) ?? 0,
  },
});

const serviceSample = (covered: number, replicas: readonly Measured[], traffic: Traffic | undefined): Sample => {
  const sum = (values: readonly (number | null)[]): number | null => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
  };
  const samples = replicas.map(({ sample }) => sample);
  return {
    covered,
    buckets: traffic?.buckets ?? null,
    errors: traffic?.errors ?? 0,
    cpuSeconds: sum(samples.map(({ cpuSeconds }) => cpuSeconds)),
    memoryBytes: sum(samples.map(({ memoryBytes }) => memoryBytes)),
    replicas: sum(samples.map((sample) => sample.replicas)) ?? 0,
    restarts: sum(samples.map((sample) => sample.restarts)) ?? 0,
  };
};
