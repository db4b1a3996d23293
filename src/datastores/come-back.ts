import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ctx } from '#kernel/ctx';
import type { Backups, DatastoreRow } from '#modules/datastores';
import type { DatastoreDeps } from './deps.ts';

export interface ComeBackDeps extends Pick<DatastoreDeps, 'config' | 'backups' | 'engines' | 'log'> {
  verbs: Pick<Backups, 'restoreBackup'>;
  systemCtx: () => Ctx;
}

/** Left by `berth state restore`. */
const RESTORED = 'restored.json';

/**
 * After a state was moved to a machine that has none of its volumes, datastores begin empty: each gets its newest verified backup,
 * once. A loss on the machine itself is left to people: there, newer backups than the move tell the two apart.
 */
export const createComeBack = (deps: ComeBackDeps): ((row: DatastoreRow) => void) => {
  const asked = new Set<string>();
  return (row) => {
    if (row.lost_at === null || asked.has(row.id)) return;
    const movedAt = readMovedAt(join(deps.config.dataDir, RESTORED));
    if (movedAt === undefined) return;
    asked.add(row.id);
    const facts = { project: row.project, datastore: row.name };
    const backup = deps.backups.list(row.project, row.name).find(({ status }) => status === 'verified');
    if (backup === undefined || backup.started_at > movedAt) {
      deps.log.warn('the moved state has no backup of a datastore: it stays empty', facts);
      return;
    }
    if (!deps.engines[row.kind].restorable) {
      deps.log.warn('a datastore of this kind has to be filled from its backup by hand', { ...facts, key: backup.key });
      return;
    }
    deps.log.info('bringing back the data of a datastore that was moved', { ...facts, key: backup.key });
    deps.verbs.restoreBackup(
      deps.systemCtx(),
      { project: row.project, name: row.name },
      { key: backup.key, keep_hours: 0 },
    );
  };
};

const readMovedAt = (file: string): number | undefined =>
  existsSync(file)
    ? Date.parse((JSON.parse(readFileSync(file, 'utf8')) as { created_at: string }).created_at)
    : undefined;
