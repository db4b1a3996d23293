import type { FlagSpecs } from '../../command.ts';

/** The datastore that a command is about. */
export const DATASTORE = { datastore: { summary: 'name of the datastore' } } as const;

export const LIMITS = {
  memory: { type: 'number', value: 'MB', integer: true, min: 64, summary: 'memory limit in MiB' },
  cpus: { type: 'number', value: 'N', min: 0.1, summary: 'CPU limit in cores' },
  storage: {
    type: 'number',
    value: 'MB',
    integer: true,
    min: 64,
    summary: 'MiB on disk beyond which apps can no longer write',
  },
} as const satisfies FlagSpecs;

/** Limits as the API takes them; what was not given is left out. */
export const limitsOf = (flags: {
  memory: number | undefined;
  cpus: number | undefined;
  storage: number | undefined;
}): { memory_mb?: number; cpus?: number; storage_limit_mb?: number } => ({
  ...(flags.memory === undefined ? {} : { memory_mb: flags.memory }),
  ...(flags.cpus === undefined ? {} : { cpus: flags.cpus }),
  ...(flags.storage === undefined ? {} : { storage_limit_mb: flags.storage }),
});
