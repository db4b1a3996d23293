import { bytes, duration } from '../output/format.ts';
import { ok, overApi, skip, warn, type Check } from './check.ts';

/** A nightly backup, a failed one that is tried again, and some time to make it in. */
const OLD_MS = 36 * 3_600_000;

interface Figures {
  ready: number;
  failed: number;
  read_only: number;
  used_bytes: number;
  never_backed_up: number;
  oldest_backup_at: string | null;
  last_backup_failed: number;
}

export const backups: Check = {
  id: 'backups',
  title: 'Datastores and backups',
  run: overApi(async (probes, endpoint, { token }) => {
    if (token === undefined) return skip('needs a token of an administrator');
    const answer = await probes.http(`${endpoint}/v1/admin/capacity`, token).catch(() => undefined);
    const figures = figuresOf(answer?.body);
    if (figures === undefined) return skip('needs a token of an administrator, and a server that answers');
    if (figures.ready + figures.failed === 0) return ok('no datastore yet');
    const age = figures.oldest_backup_at === null ? 0 : probes.now() - Date.parse(figures.oldest_backup_at);
    const wrong = [
      figures.failed > 0 ? `${figures.failed} could not be made` : [],
      figures.read_only > 0 ? `${figures.read_only} take no writes: their storage limit was passed` : [],
      figures.last_backup_failed > 0 ? `the newest backup of ${figures.last_backup_failed} failed` : [],
      age > OLD_MS ? `one was not backed up for ${duration(age)}` : [],
    ].flat();
    const all = `${figures.ready} with ${bytes(figures.used_bytes)}`;
    if (wrong.length > 0) return warn(`${all}; ${wrong.join('; ')}`, 'look: berth db ls, berth db backups <name>');
    if (figures.never_backed_up > 0) return ok(`${all}; ${figures.never_backed_up} wait for their first backup`);
    return ok(`${all}; all backed up in the last ${duration(age)}`);
  }),
};

const figuresOf = (body: unknown): Figures | undefined => {
  const found = typeof body === 'object' && body !== null && 'datastores' in body ? body.datastores : undefined;
  return typeof found === 'object' && found !== null && 'ready' in found ? (found as Figures) : undefined;
};
