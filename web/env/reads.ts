import { queryOptions } from '@tanstack/react-query';
import type { EnvEntry, SetEnv } from '#modules/env';
import type { DryRun } from '#kernel/schema';
import { at, call } from '../api.ts';

/** What is set, by name; values never come back from the server. */
export interface EnvNames {
  env: EnvEntry[];
  /** What services are given for datastores; a name that is set comes before it. */
  injected: { name: string; datastore: string }[];
}

type EnvPage = EnvNames & { next_cursor: string | null };

export const envRead = (project: string) =>
  queryOptions({
    queryKey: ['env', project],
    queryFn: async ({ signal }): Promise<EnvNames> => {
      const env: EnvEntry[] = [];
      let cursor: string | null = null;
      for (;;) {
        const page: EnvPage = await call<EnvPage>('GET', at('projects', project, 'env'), {
          signal,
          query: { limit: 200, cursor },
        });
        env.push(...page.env);
        cursor = page.next_cursor;
        if (cursor === null) return { env, injected: page.injected };
      }
    },
  });

/** Values by name; null unsets. */
export type EnvChanges = Record<string, string | null>;

/** The map stands under `env`, since a variable may itself be called so. */
export const planEnv = (project: string, env: EnvChanges): Promise<DryRun> =>
  call<DryRun>('PUT', at('projects', project, 'env'), { json: { env }, query: { dry_run: true } });

export const setEnv = (project: string, env: EnvChanges): Promise<SetEnv> =>
  call<SetEnv>('PUT', at('projects', project, 'env'), { json: { env } });
