import { useState } from 'react';
import { queries } from '../data/client.ts';
import { useAction } from '../ui/action.ts';
import { announce } from './announce.ts';
import { readPlan, type EnvPlan } from './changes.ts';
import { planEnv, setEnv, type EnvChanges } from './reads.ts';

/** The two steps of a change: what it would do, then doing it. `changes` stays in this component and nowhere else. */
export const useChange = (project: string, known: readonly string[], onClose: () => void) => {
  const [planned, setPlanned] = useState<{ changes: EnvChanges; plan: EnvPlan }>();
  const { busy, error, run, clear } = useAction();
  return {
    plan: planned?.plan,
    busy,
    error,
    preview: (read: () => EnvChanges) =>
      run(async () => {
        const changes = read();
        setPlanned({ changes, plan: readPlan(await planEnv(project, changes), changes, known) });
      }),
    apply: () =>
      run(async () => {
        if (planned === undefined) return;
        announce(project, await setEnv(project, planned.changes));
        await queries.invalidateQueries({ queryKey: ['env', project] });
        onClose();
      }),
    back: () => {
      setPlanned(undefined);
      clear();
    },
  };
};
