import type { Dir } from '../../source-tree.ts';
import { safePath } from '../../dockerfile-text.ts';
import type { PlanContext } from '../provider.ts';
import { shellQuote } from '../support/shell.ts';
import type { Framework } from './frameworks/index.ts';
import { type Manifest, hasDependency, script } from './manifest.ts';
import type { SystemNeeds } from './native.ts';
import { runScript } from './commands.ts';
import { installBuild } from './lifecycle.ts';
import type { Manager } from './package-manager.ts';
import { type Start, startScript } from './start.ts';
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
  /** The app is started by its start script, which may build first. */
  startsByScript: boolean;
}

/** The build commands: [build], the app's build script (after those of the packages it uses), or the framework's own. */
export const nodeBuild = (input: BuildInput): string[] => {
  const { context, dir, workspace, manifest, manager, framework } = input;
  if (context.overrides.build !== undefined) return context.overrides.build;
  const late = input.startsByScript ? startScript(manifest).build : [];
  if (workspace === null || workspace.root.path === dir.path)
    return ownBuild({ manifest, framework, late, run: (name) => runScript(manager, name, ''), inside: '' });
  const member = safePath(memberPath({ dir, root: workspace.root }));
  const runner = taskRunner(workspace, manifest, member);
  if (runner !== undefined) return [runner];
  return buildOrder(workspace, member).flatMap((path) => {
    const one = workspace.members.find((candidate) => candidate.path === path)?.manifest ?? manifest;
    const own = path === member;
    return ownBuild({
      manifest: one,
      framework: own ? framework : null,
      late: own ? late : [],
      run: (name) => runScript(manager, name, safePath(path)),
      inside: safePath(path),
    });
  });
};

/** The workspace's own tool, which knows what is built before what. */
const taskRunner = ({ root, manifest }: Workspace, app: Manifest, member: string): string | undefined => {
  const scripted = script(app, 'build') !== undefined;
  // Nx finds builds that no script names, in the configs of tools.
  if (!scripted && root.has('nx.json') && hasDependency(manifest, 'nx') && app.name !== '')
    return `NX_DAEMON=false node_modules/.bin/nx run-many --target=build --projects=${shellQuote(app.name)}`;
  if (scripted && root.has('turbo.json') && hasDependency(manifest, 'turbo'))
    return `TURBO_TELEMETRY_DISABLED=1 node_modules/.bin/turbo run build --filter=./${member}`;
  return undefined;
};

interface OwnBuild {
  manifest: Manifest;
  framework: Framework | null;
  /** Builds that the start script would do. */
  late: string[];
  run: (script: string) => string;
  /** Folder of the package. */
  inside: string;
}

/** Names of build scripts; the others are those of other hosts. */
const BUILD_SCRIPTS = ['build', 'gcp-build', 'heroku-postbuild'];

const ownBuild = ({ manifest, framework, late, run, inside }: OwnBuild): string[] => {
  const tool = (command: string): string => {
    const line = `PATH="$PWD/node_modules/.bin:$PATH" ${command}`;
    return inside === '' ? line : `(cd ${inside} && ${line})`;
  };
  const scripted = BUILD_SCRIPTS.find((name) => script(manifest, name) !== undefined) ?? installBuild(manifest);
  const first = scripted !== undefined ? [run(scripted)] : framework === null ? [] : [tool(framework.build)];
  const more = late.map((command) => {
    const called = /^(?:npm|pnpm|yarn|bun)(?: run)? ([\w:.-]+)$/.exec(command)?.[1];
    return called === undefined ? tool(command) : run(called);
  });
  return [...new Set([...first, ...more])];
};
