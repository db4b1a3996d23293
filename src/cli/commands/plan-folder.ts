import { planBuild } from '#engines/builder/detect';
import { plannedBuild } from '#engines/builder/planned-build';
import { sourceTreeOf } from '#engines/builder/source-tree-read';
import { BerthError } from '#kernel/errors';
import { type DryRun, dryRun } from '#kernel/schema';
import { CliFailure } from '../failure.ts';
import type { SourceTree } from '../pack/walk.ts';

/** Plans what a server would build of the files, as a service that has no variables and was never deployed. */
export const planFolder = (tree: SourceTree, service: string): DryRun => {
  const files = tree.entries.flatMap(({ type, path }) => (type === 'file' ? [path] : []));
  try {
    const plan = planBuild(sourceTreeOf(tree.root, files), {
      projectEnv: {},
      remembered: {},
      serviceName: service,
    });
    const change = { action: 'create', resource: 'release', name: service, build: plannedBuild(plan) } as const;
    return dryRun(`build ${service} with ${plan.provider}`, [change]);
  } catch (thrown) {
    if (thrown instanceof BerthError) throw new CliFailure(thrown.toBody(), { cause: thrown });
    throw thrown;
  }
};
