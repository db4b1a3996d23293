import type { DumpReport } from '#engines/datastores/port';
import { BerthError } from '#kernel/errors';

const SHOWN = 5;

/** What differs between what a backup held and what came back of it, in words; empty when nothing does. Pure. */
export const differences = (wanted: Record<string, number>, found: Record<string, number>): string[] =>
  [...new Set([...Object.keys(wanted), ...Object.keys(found)])]
    .sort()
    .filter((name) => wanted[name] !== found[name])
    .map(
      (name) => `${name}: ${wanted[name] ?? 'nothing'} in the backup, ${found[name] ?? 'nothing'} after the restore`,
    );

/** INTERNAL_ERROR unless a restore brought back exactly what the backup's snapshot held. */
export const requireSame = (
  backup: { key: string; objects: Record<string, number> | null },
  found: DumpReport,
): void => {
  const wrong = differences(backup.objects ?? {}, found.objects);
  if (wrong.length === 0) return;
  const more = wrong.length > SHOWN ? ` and ${wrong.length - SHOWN} more` : '';
  throw new BerthError('INTERNAL_ERROR', `backup ${backup.key} does not restore to what was backed up`, {
    hint: 'make another backup; if that fails too, report it with the log tail',
    logTail: `${wrong.slice(0, SHOWN).join('\n')}${more}`,
  });
};
