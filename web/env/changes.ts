import type { DryRun } from '#kernel/schema';
import { CliFailure } from '#cli/failure';
import { parseDotenv } from '#cli/dotenv';
import { ApiError } from '../api.ts';
import type { EnvChanges } from './reads.ts';

export type Fate = 'new' | 'replaced' | 'unchanged' | 'unset';

export interface PlannedName {
  name: string;
  fate: Fate;
}

export interface EnvPlan {
  names: PlannedName[];
  /** Services that restart to be given the values. */
  restarts: string[];
}

/** Reads the server's plan against what was asked for and what is set: values are compared by the server alone. */
export const readPlan = ({ plan }: DryRun, changes: EnvChanges, known: readonly string[]): EnvPlan => {
  const env = new Map(
    plan.changes.filter(({ resource }) => resource === 'env').map(({ name, action }) => [name, action]),
  );
  const fateOf = (name: string): Fate => {
    const action = env.get(name);
    if (action === undefined) return 'unchanged';
    if (action === 'delete') return 'unset';
    return known.includes(name) ? 'replaced' : 'new';
  };
  return {
    names: Object.keys(changes)
      .sort()
      .map((name) => ({ name, fate: fateOf(name) })),
    restarts: plan.changes
      .filter(({ resource, action }) => resource === 'service' && action === 'restart')
      .map(({ name }) => name),
  };
};

/** What a pasted `.env` asks for; `unset` names those known ones that it lacks. Throws ApiError. */
export const changesOf = (text: string, unset: readonly string[]): EnvChanges => {
  const values = readText(text);
  return { ...Object.fromEntries(unset.filter((name) => !(name in values)).map((name) => [name, null])), ...values };
};

const readText = (text: string): Record<string, string> => {
  try {
    return parseDotenv(text);
  } catch (thrown) {
    if (thrown instanceof CliFailure) throw new ApiError({ ...thrown.body, code: 'INVALID_INPUT' }, 0);
    throw thrown;
  }
};
