import type { Capacity, Health } from '#modules/system';
import { bytes } from '../ui/format.ts';
import type { Tone } from '../ui/status.tsx';

/** One thing that was looked at: how it is, and what to do about it. */
export interface Finding {
  id: string;
  title: string;
  tone: Extract<Tone, 'ok' | 'warn' | 'bad'>;
  detail: string;
  /** The next step; undefined when nothing is to be done. */
  next?: string;
}

const HINTS: Record<keyof Health['checks'], { title: string; next: string }> = {
  database: {
    title: 'Database',
    next: 'look for disk errors in the server’s log (journalctl -u berth), and at the free space of the data directory',
  },
  engine: { title: 'Container engine', next: 'see whether Docker runs: systemctl status docker, then docker info' },
  proxy: {
    title: 'Proxy',
    next: 'see whether its container runs: docker ps --filter name=berth; berth starts it again by itself',
  },
  registry: {
    title: 'Image registry',
    next: 'see whether its container runs: docker ps --filter name=berth; deploys wait for it',
  },
};

/** What the server says of itself, as findings; the worst first. */
export const findingsOf = (health: Health | undefined, capacity: Capacity | undefined): Finding[] => {
  const findings = [
    ...(health === undefined ? [] : checks(health)),
    ...(capacity === undefined
      ? []
      : [...platform(capacity), ...disks(capacity), ...memory(capacity), datastores(capacity), builds(capacity)]),
  ];
  const order = { bad: 0, warn: 1, ok: 2 };
  return findings.sort((a, b) => order[a.tone] - order[b.tone]);
};

const checks = ({ checks: all }: Health): Finding[] =>
  (Object.entries(all) as [keyof Health['checks'], 'ok' | 'failing'][]).map(([id, state]) => {
    const { title, next } = HINTS[id];
    return state === 'ok'
      ? { id, title, tone: 'ok', detail: 'answers' }
      : { id, title, tone: 'bad', detail: 'does not answer, or not in time', next };
  });

const platform = ({ problem }: Capacity): Finding[] =>
  problem === null
    ? []
    : [
        {
          id: 'platform',
          title: 'Platform',
          tone: 'bad',
          detail: problem,
          next: 'run “berth doctor” on the server: it names the cause',
        },
      ];

/** From here on a disk or the memory deserves a look, and from there on action. */
const SCARCE = 0.15;
const SHORT = 0.05;

const toneOfFree = (share: number): Finding['tone'] => (share < SHORT ? 'bad' : share < SCARCE ? 'warn' : 'ok');

const disks = ({ disks: all }: Capacity): Finding[] =>
  all.map(({ path, holds, total_bytes: total, free_bytes: free }) => {
    const tone = toneOfFree(free / Math.max(1, total));
    return {
      id: `disk ${path}`,
      title: `Disk: ${holds}`,
      tone,
      detail: `${bytes(free)} of ${bytes(total)} free at ${path}`,
      ...(tone !== 'ok' && {
        next: 'delete what is not needed (old backups, datastores, services), or give it a larger disk',
      }),
    };
  });

const memory = ({ memory_bytes: total, memory_available_bytes: free }: Capacity): Finding[] => {
  if (total === null || free === null) return [];
  const tone = toneOfFree(free / Math.max(1, total));
  return [
    {
      id: 'memory',
      title: 'Memory',
      tone,
      detail: `${bytes(free)} of ${bytes(total)} available`,
      ...(tone !== 'ok' && { next: 'scale services down, lower their memory limits, or move some to another server' }),
    },
  ];
};

const datastores = ({ datastores: all }: Capacity): Finding => {
  const wrong = [
    all.failed > 0 ? `${all.failed} could not be made` : '',
    all.read_only > 0 ? `${all.read_only} take no writes: their storage limit was passed` : '',
    all.last_backup_failed > 0 ? `the newest backup of ${all.last_backup_failed} failed` : '',
  ].filter((text) => text !== '');
  const title = 'Datastores and backups';
  if (wrong.length > 0)
    return {
      id: 'datastores',
      title,
      tone: 'warn',
      detail: wrong.join('; '),
      next: 'open the datastore: its page says what failed and what to do',
    };
  if (all.ready === 0) return { id: 'datastores', title, tone: 'ok', detail: 'none yet' };
  const waiting = all.never_backed_up === 0 ? 'all are backed up' : `${all.never_backed_up} wait for the first backup`;
  return { id: 'datastores', title, tone: 'ok', detail: `${all.ready} with ${bytes(all.used_bytes)}; ${waiting}` };
};

const builds = ({ builds: { running, queued, concurrency } }: Capacity): Finding => ({
  id: 'builds',
  title: 'Builds',
  tone: queued > concurrency * 2 ? 'warn' : 'ok',
  detail: `${running} of ${concurrency} run, ${queued} wait`,
  ...(queued > concurrency * 2 && { next: 'raise --build-concurrency if processors are idle, or spread deploys' }),
});
