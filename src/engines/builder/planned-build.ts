import type { PlannedBuild } from '#kernel/planned-build';
import type { Plan } from './plan.ts';

/** What people and agents are shown of a plan. */
export const plannedBuild = (plan: Plan): PlannedBuild => ({
  provider: plan.provider,
  framework: plan.framework,
  root: plan.root,
  versions: plan.versions,
  package_manager: packageManager(plan),
  install: plan.install,
  build: plan.build,
  start: plan.start,
  release_command: plan.releaseCommand,
  apt: plan.apt,
  static_root: plan.staticRoot,
  decisions: plan.decisions,
  warnings: plan.warnings,
});

const packageManager = ({ packageManager: chosen }: Plan): PlannedBuild['package_manager'] => {
  if (chosen === null) return null;
  const { name, version, lockFile, reason } = chosen;
  return { name, version, lock_file: lockFile, reason };
};
