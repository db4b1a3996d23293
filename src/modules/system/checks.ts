import type { Capacity, Checks, Health } from './model.ts';

type Check = Checks['checks'][number];

export interface Facts {
  health: Health;
  capacity: Capacity;
  /** Lines of logs that could not be stored since the start. */
  lostLines: number;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Below these no build begins, and what is there fails soon. */
const LOW_DISK = { bytes: 2 * 1024 ** 3, share: 0.05 };
const LOW_MEMORY_SHARE = 0.05;
/** A nightly backup, a failed one that is tried again, and some time to make it in. */
const OLD_BACKUP_MS = 36 * 3_600_000;
/** As the dashboard and the command line write sizes. */
const GB = 1024 ** 3;

/** What an administrator has to look at, from the server's own point of view; `berth doctor` looks at the machine too. */
export const checksOf = (facts: Facts): Check[] => [
  ...answering(facts.health),
  platform(facts.capacity),
  ...facts.capacity.disks.map(disk),
  memory(facts.capacity),
  backups(facts),
  logs(facts.lostLines),
];

const ok = (id: string, title: string, detail: string): Check => ({ id, title, status: 'ok', detail, next: null });

const NEXT: Record<keyof Health['checks'], string> = {
  database: 'look at the server’s log, and at the disk that holds the state',
  engine: 'start the Docker engine: systemctl start docker',
  proxy: 'wait a minute: berth starts it again; then look at the server’s log',
  registry: 'wait a minute: berth starts it again; then look at the server’s log',
};

const answering = ({ checks }: Health): Check[] =>
  (Object.keys(NEXT) as (keyof Health['checks'])[]).map((name) =>
    checks[name] === 'ok'
      ? ok(name, `The ${name}`, 'answers')
      : { id: name, title: `The ${name}`, status: 'fail', detail: 'does not answer in time', next: NEXT[name] },
  );

const platform = ({ problem }: Capacity): Check =>
  problem === null
    ? ok('platform', 'The platform', 'ready')
    : {
        id: 'platform',
        title: 'The platform',
        status: 'fail',
        detail: problem,
        next: 'see: berth doctor, on the server',
      };

const disk = ({ path, total_bytes: total, free_bytes: free }: Capacity['disks'][number]): Check => {
  const id = `disk:${path}`;
  const title = `Disk of ${path}`;
  const detail = `${(free / GB).toFixed(1)} GB of ${(total / GB).toFixed(1)} GB are free`;
  if (free >= LOW_DISK.bytes && free >= total * LOW_DISK.share) return ok(id, title, detail);
  return { id, title, status: 'fail', detail, next: 'free space: GET /v1/admin/disk says which project has how much' };
};

const memory = ({ memory_bytes: total, memory_available_bytes: free }: Capacity): Check => {
  if (total === null || free === null || free >= total * LOW_MEMORY_SHARE)
    return ok('memory', 'Memory', free === null ? 'unknown' : `${(free / GB).toFixed(1)} GB are available`);
  const detail = `${(free / GB).toFixed(1)} GB of ${(total / GB).toFixed(1)} GB are available`;
  return {
    id: 'memory',
    title: 'Memory',
    status: 'warn',
    detail,
    next: 'scale something down, or give the machine more',
  };
};

const backups = ({ capacity: { datastores }, now }: Facts): Check => {
  const age = datastores.oldest_backup_at === null ? 0 : now - Date.parse(datastores.oldest_backup_at);
  const wrong = [
    datastores.failed > 0 ? `${datastores.failed} could not be made` : [],
    datastores.read_only > 0 ? `${datastores.read_only} take no writes: their storage limit was passed` : [],
    datastores.last_backup_failed > 0 ? `the newest backup of ${datastores.last_backup_failed} failed` : [],
    age > OLD_BACKUP_MS ? `one was not backed up for ${Math.floor(age / 3_600_000)} hours` : [],
  ].flat();
  const title = 'Datastores and backups';
  if (wrong.length === 0) return ok('backups', title, `${datastores.ready} ready`);
  return {
    id: 'backups',
    title,
    status: 'warn',
    detail: wrong.join('; '),
    next: 'look at the datastores and their backups',
  };
};

const logs = (lost: number): Check =>
  lost === 0
    ? ok('logs', 'Logs', 'all lines were stored')
    : {
        id: 'logs',
        title: 'Logs',
        status: 'warn',
        detail: `${lost} lines could not be stored`,
        next: 'free disk space',
      };

/** The worst of them. */
export const worstOf = (checks: readonly Check[]): Checks['status'] =>
  checks.some(({ status }) => status === 'fail')
    ? 'fail'
    : checks.some(({ status }) => status === 'warn')
      ? 'warn'
      : 'ok';
