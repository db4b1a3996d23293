import type { Database } from 'bun:sqlite';
import { LATENCY_BUCKETS, type HttpMetrics, type RequestSeries } from '#http/metrics';
import type { Streams } from '#http/streams';
import { countFailedDatastores, datastoreStates } from './datastores.ts';
import type { System } from './service.ts';

export interface MetricsDeps {
  db: Database;
  http: HttpMetrics;
  streams: Streams;
  system: Pick<System, 'builds' | 'version'>;
}

type Labels = Record<string, string | number>;

interface Sample {
  labels?: Labels;
  value: number;
  /** `_bucket`, `_sum` or `_count` of a histogram. */
  suffix?: string;
}

/** Everything that can be measured cheaply, in the Prometheus text format. */
export const renderMetrics = ({ db, http, streams, system }: MetricsDeps): string => {
  const series = http.series();
  const builds = system.builds();
  return [
    family('berth_info', 'gauge', 'The running version.', [{ labels: { version: system.version }, value: 1 }]),
    family('berth_http_requests_total', 'counter', 'Requests by operation and status.', series.flatMap(requestSamples)),
    family(
      'berth_http_request_duration_seconds',
      'histogram',
      'Time until the reply began.',
      series.flatMap(latencySamples),
    ),
    family('berth_operations', 'gauge', 'Operations on record by kind and status.', operationSamples(db)),
    family('berth_projects', 'gauge', 'Projects.', [{ value: countOf(db, 'SELECT count(*) AS n FROM projects') }]),
    family('berth_services', 'gauge', 'Services.', [{ value: countOf(db, 'SELECT count(*) AS n FROM services') }]),
    family('berth_replicas', 'gauge', 'Replicas by state.', replicaSamples(db)),
    family('berth_tokens', 'gauge', 'Tokens that are not revoked.', [
      { value: countOf(db, 'SELECT count(*) AS n FROM tokens WHERE revoked_at IS NULL') },
    ]),
    family('berth_builds_running', 'gauge', 'Builds under way.', [{ value: builds.running }]),
    family('berth_build_cache_bytes', 'gauge', 'Build cache that a service used.', cacheSamples(db)),
    family('berth_builds_queued', 'gauge', 'Builds that wait for a slot.', [{ value: builds.queued }]),
    family('berth_open_streams', 'gauge', 'Readers of event streams.', [{ value: streams.size }]),
    ...datastoreFamilies(db),
    ...processFamilies(),
  ].join('');
};

const requestSamples = (series: RequestSeries): Sample[] =>
  [...series.byStatus].map(([status, value]) => ({ labels: { operation: series.operationId, status }, value }));

const latencySamples = (series: RequestSeries): Sample[] => {
  const operation = series.operationId;
  let sum = 0;
  const buckets = [...series.buckets].map((count, index): Sample => {
    sum += count;
    return { suffix: '_bucket', labels: { operation, le: LATENCY_BUCKETS[index] ?? '+Inf' }, value: sum };
  });
  return [
    ...buckets,
    { suffix: '_sum', labels: { operation }, value: series.seconds },
    { suffix: '_count', labels: { operation }, value: series.count },
  ];
};

const operationSamples = (db: Database): Sample[] =>
  db
    .query<{ kind: string; status: string; n: number }, []>(
      'SELECT kind, status, count(*) AS n FROM operations GROUP BY kind, status ORDER BY kind, status',
    )
    .all()
    .map(({ kind, status, n }) => ({ labels: { kind, status }, value: n }));

const replicaSamples = (db: Database): Sample[] =>
  db
    .query<{ state: string; n: number }, []>('SELECT state, count(*) AS n FROM replicas GROUP BY state ORDER BY state')
    .all()
    .map(({ state, n }) => ({ labels: { state }, value: n }));

const cacheSamples = (db: Database): Sample[] =>
  db
    .query<{ project: string; service: string; bytes: number }, []>(
      'SELECT project, service, sum(bytes) AS bytes FROM build_caches GROUP BY project, service',
    )
    .all()
    .map(({ project, service, bytes }) => ({ labels: { project, service }, value: bytes }));

const countOf = (db: Database, sql: string): number => db.query<{ n: number }, []>(sql).get()?.n ?? 0;

const datastoreFamilies = (db: Database): string[] => {
  const states = datastoreStates(db);
  const each = (value: (state: (typeof states)[number]) => number | null): Sample[] =>
    states.flatMap((state) => {
      const found = value(state);
      const { project, name, kind } = state;
      return found === null ? [] : [{ labels: { project, datastore: name, kind }, value: found }];
    });
  return [
    family('berth_datastores_failed', 'gauge', 'Datastores that could not be made.', [
      { value: countFailedDatastores(db) },
    ]),
    family(
      'berth_datastore_bytes',
      'gauge',
      'Bytes on disk, as last measured.',
      each(({ used_bytes }) => used_bytes),
    ),
    family(
      'berth_datastore_read_only',
      'gauge',
      '1: the storage limit was passed.',
      each(({ read_only }) => read_only),
    ),
    family(
      'berth_datastore_last_verified_backup_timestamp_seconds',
      'gauge',
      'Start of the newest verified backup, since the Unix epoch; 0: there is none.',
      each(({ backed_up_at: at }) => (at ?? 0) / 1000),
    ),
    family(
      'berth_datastore_last_backup_failed',
      'gauge',
      '1: the newest backup failed.',
      each(({ last_status }) => Number(last_status === 'failed')),
    ),
  ];
};

const processFamilies = (): string[] => {
  const memory = process.memoryUsage();
  const cpu = process.cpuUsage();
  return [
    family('process_resident_memory_bytes', 'gauge', 'Resident memory.', [{ value: memory.rss }]),
    family('process_heap_bytes', 'gauge', 'Heap in use.', [{ value: memory.heapUsed }]),
    family('process_cpu_seconds_total', 'counter', 'CPU time.', [{ value: (cpu.user + cpu.system) / 1e6 }]),
    family('process_start_time_seconds', 'gauge', 'Start, since the Unix epoch.', [
      { value: Math.round(performance.timeOrigin / 1000) },
    ]),
  ];
};

const family = (name: string, type: string, help: string, samples: readonly Sample[]): string => {
  const lines = samples.map(({ labels, value, suffix }) => `${name}${suffix ?? ''}${labelText(labels)} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
};

const labelText = (labels: Labels | undefined): string => {
  if (labels === undefined) return '';
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escape(String(value))}"`)
    .join(',')}}`;
};

const escape = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
