import type { Dir } from '../../source-tree.ts';
import { safePath } from '../../dockerfile-text.ts';
import type { PlanContext } from '../provider.ts';
import type { Framework } from './frameworks.ts';
import { type Manifest, hasDependency, script } from './manifest.ts';
import type { SystemNeeds } from './native.ts';
import { runScript } from './commands.ts';
import type { Manager } from './package-manager.ts';
import type { Start } from './start.ts';
import { type Workspace, buildOrder } from './workspaces.ts';

/** Everything that is known about a Node app before its image is laid out. */
export interface NodeApp {
  dir: Dir;
  /** Where dependencies are installed: the workspace's root, or the app itself. */
  root: Dir;
  workspace: Workspace | null;
  manifest: Manifest;
  manager: Manager;
  framework: Framework | null;
  /** Run by Bun instead of Node. */
  bun: boolean;
  build: string[];
  start: Start | null;
  needs: SystemNeeds;
  nodeVersion: string;
  drifted: boolean;
  projectEnv: Record<string, string>;
}

/** The app's path inside its workspace; empty outside of one. */
export const memberPath = ({ dir, root }: Pick<NodeApp, 'dir' | 'root'>): string =>
  dir.path === root.path ? '' : dir.path.slice(root.path === '' ? 0 : root.path.length + 1);

interface BuildInput extends Pick<NodeApp, 'dir' | 'workspace' | 'manifest' | 'manager' | 'framework'> {
  context: PlanContext;
}

/** The build commands: [build], the app's build script (after those of the packages it uses), or the framework's own. */
export const nodeBuild = (input: BuildInput): string[] => {
  const { context, dir, workspace, manifest, manager, framework } = input;
  if (context.overrides.build !== undefined) return context.overrides.build;
  if (workspace === null || workspace.root.path === dir.path)
    return ownBuild(manifest, framework, (name) => runScript(manager, name, ''));
  const member = memberPath({ dir, root: workspace.root });
  if (
    workspace.root.has('turbo.json') &&
    hasDependency(workspace.manifest, 'turbo') &&
    script(manifest, 'build') !== undefined
  ) {
    return [`TURBO_TELEMETRY_DISABLED=1 node_modules/.bin/turbo run build --filter=./${safePath(member)}`];
  }
  const paths = buildOrder(workspace, member);
  return paths.flatMap((path) => {
    const one = workspace.members.find((candidate) => candidate.path === path)?.manifest ?? manifest;
    const own = ownBuild(one, path === member ? framework : null, (name) => runScript(manager, name, safePath(path)));
    return script(one, 'build') === undefined ? own.map((command) => `(cd ${safePath(path)} && ${command})`) : own;
  });
};

const ownBuild = (manifest: Manifest, framework: Framework | null, run: (name: string) => string): string[] => {
  if (script(manifest, 'build') !== undefined) return [run('build')];
  return framework === null ? [] : [`PATH="$PWD/node_modules/.bin:$PATH" ${framework.build}`];
};
