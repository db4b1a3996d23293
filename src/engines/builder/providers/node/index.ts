import { BerthError, invalidInput } from '#kernel/errors';
import type { Plan } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { TOOLS, type VersionRequest, nodeRange } from '../../versions.ts';
import { toolVersionRequest } from '../../versions-files.ts';
import { type PlanContext, type Provider, chosenStart, noStartCommand, versionOf } from '../provider.ts';
import { placeOf, textAt } from '../support/fields.ts';
import { type Framework, recogniseFramework } from './frameworks/index.ts';
import { lockDrift, lockedNames, npmLockVersion } from './lock-file.ts';
import { type Manifest, readManifest, script } from './manifest.ts';
import { systemNeeds } from './native.ts';
import { usesBun } from './bun.ts';
import { choosePackageManager, fitToImage } from './package-manager.ts';
import { type NodeApp, nodeBuild } from './app.ts';
import { nodePlan } from './stages.ts';
import { requireRegistryVariables } from './registry.ts';
import { type Start, findStart } from './start.ts';
import { type Workspace, chooseMember, findWorkspace, nxAdvice } from './workspaces.ts';

/** Apps with a package.json, run by Node or by Bun, or built into files. */
export const node: Provider = {
  name: 'node',
  markers: ['package.json'],
  doc: {
    title: 'Node, Bun',
    detects: '`package.json`',
    notes:
      "npm, pnpm, yarn (1 and newer; Plug'n'Play is installed as node_modules), bun; workspaces, Turborepo. Next.js (as standalone, unless a command of your own needs more; export), Nuxt, React Router, Remix, SvelteKit, Astro, Angular, NestJS, TanStack Start with nitro, and sites made with Vite, Create React App, Vue CLI, Rsbuild, Gatsby, Docusaurus, Eleventy, Hexo, VitePress, VuePress, Quasar, Ember, Slidev, Expo; else the `start` script (what of it builds is done in the build), `main`, or an index/server file",
  },
  detect,
  plan: planNode,
};

function detect(app: Dir): 'strong' | 'weak' | null {
  if (!app.has('package.json')) return null;
  const manifest = readManifest(app);
  if (!manifest) return null;
  const runs = script(manifest, 'start') !== undefined || recogniseFramework(app, manifest) !== null;
  const workspace = manifest.raw['workspaces'] !== undefined || app.has('pnpm-workspace.yaml');
  return runs || workspace || findStart(app, manifest, 'node') !== null ? 'strong' : 'weak';
}

function planNode(context: PlanContext): Plan {
  const app = gather(context);
  return nodePlan(context, app);
}

const gather = (context: PlanContext): NodeApp => {
  const found = locate(context);
  const { dir, workspace } = found;
  const { notes, projectEnv } = context;
  const manifest = readManifest(dir);
  if (!manifest) {
    throw new BerthError(
      'NO_PROVIDER_DETECTED',
      `there is no package.json in ${dir.path === '' ? 'the source' : dir.path}`,
      {
        hint: 'add one, or set root in the [build] table of berth.toml',
      },
    );
  }
  const root = workspace?.root ?? dir;
  if (Object.keys(manifest.all).length > 0 || workspace !== null) requireRegistryVariables(root, projectEnv);
  const chosenManager = choosePackageManager(root, workspace?.manifest ?? manifest, context.remembered);
  const version = versionOf(context, TOOLS.node, nodeRequests(dir, root, manifest));
  const manager = fitToImage(chosenManager, version.version, npmLockVersion(root, chosenManager.lockFile));
  notes.decisions.push(
    `package manager ${manager.name}${manager.version === null ? '' : ` ${manager.version}`}: ${manager.reason}`,
  );
  const drift =
    manager.lockFile === null
      ? []
      : lockDrift(root, manager.lockFile, workspace?.manifest ?? manifest, workspace?.members);
  if (drift.length > 0) notes.warnings.push(driftWarning(manager.lockFile ?? '', drift));
  const chosen = chosenStart(context);
  const framework = frameworkOf(context, dir, manifest, chosen);
  if (framework) {
    notes.decisions.push(`framework: ${framework.name}`, ...framework.decisions);
    notes.warnings.push(...framework.warnings);
  }
  const bun = framework === null && usesBun(manager.name, manifest, dir);
  const startsByScript =
    chosen === undefined &&
    (framework === null || (framework.outcome.kind === 'server' && framework.outcome.start === null));
  const build = nodeBuild({ context, dir, workspace, manifest, manager, framework, startsByScript });
  const start = startOf({ context, dir, manifest, framework, bun, chosen });
  const needs = systemNeeds(dir, manifest, lockedNames(root, manager.lockFile));
  return {
    dir,
    root,
    workspace,
    manifest,
    manager,
    framework,
    bun,
    build,
    start,
    needs,
    nodeVersion: version.version,
    drifted: drift.length > 0,
    projectEnv,
  };
};

/** The framework; with all of the app in the image, when a command of the user's own may need any part of it. */
const frameworkOf = (
  { overrides, procfile }: PlanContext,
  dir: Dir,
  manifest: Manifest,
  chosen: string[] | undefined,
): Framework | null => {
  const found = recogniseFramework(dir, manifest);
  if (found === null) return null;
  if (found.refusal !== null && chosen === undefined && overrides.output === undefined)
    throw invalidInput(found.refusal.message, found.refusal.hint);
  const { outcome } = found;
  if (outcome.kind === 'static') return found;
  const release = overrides.release ?? procfile['release'];
  const inside =
    chosen === undefined ||
    outcome.outputs?.some(({ to }) => to !== '' && chosen.some((word) => word.startsWith(`${to}/`)));
  if (release === undefined && inside) return found;
  const whole = recogniseFramework(dir, manifest, true) ?? found;
  return whole.outcome.kind === 'server'
    ? { ...whole, outcome: { ...whole.outcome, outputs: null, modules: true } }
    : whole;
};

const driftWarning = (lockFile: string, names: string[]): string =>
  `WARNING: ${lockFile} does not match package.json (${names.slice(0, 8).join(', ')}${names.length > 8 ? ', …' : ''}): versions other than the locked ones may be installed; update the lock file and commit it`;

/** The app's folder and its workspace; for the root of a workspace, the member to deploy. */
const locate = (context: PlanContext): { dir: Dir; workspace: Workspace | null } => {
  const { app, repo, serviceName, notes, overrides, procfile } = context;
  const workspace = findWorkspace(repo, app);
  if (workspace === null || workspace.root.path !== app.path) return { dir: app, workspace };
  const runsItself =
    script(workspace.manifest, 'start') !== undefined || recogniseFramework(app, workspace.manifest) !== null;
  if (
    runsItself ||
    overrides.start !== undefined ||
    overrides.output !== undefined ||
    procfile['web'] !== undefined ||
    workspace.members.length === 0
  ) {
    return { dir: app, workspace };
  }
  const { member, reason } = chooseMember(workspace, serviceName);
  notes.decisions.push(`app ${member.path}: ${reason}`);
  return { dir: workspace.root.dir(member.path), workspace };
};

const nodeRequests = (dir: Dir, root: Dir, manifest: Manifest): (VersionRequest | null)[] => {
  const declared = (...keys: string[]): VersionRequest | null => {
    const written = textAt(manifest.raw, ...keys);
    const place = placeOf(dir, 'package.json', new RegExp(`"${keys.at(-1)}"\\s*:\\s*"`));
    return written === undefined
      ? null
      : { range: nodeRange(written), written, source: `${keys.join('.')} in ${place}` };
  };
  return [
    declared('engines', 'node'),
    declared('volta', 'node'),
    ...[dir, root].map((place) =>
      toolVersionRequest(place, { names: ['node', 'nodejs'], files: ['.nvmrc', '.node-version'], range: nodeRange }),
    ),
  ];
};

interface StartInput {
  context: PlanContext;
  dir: Dir;
  manifest: Manifest;
  framework: Framework | null;
  bun: boolean;
  /** The start command that the user names. */
  chosen: string[] | undefined;
}

/** Null for sites, which are served as files. */
const startOf = ({ context, dir, manifest, framework, bun, chosen }: StartInput): Start | null => {
  if (chosen !== undefined) return { argv: chosen, reason: '' };
  if (context.overrides.output !== undefined) return null;
  if (framework?.outcome.kind === 'static') return null;
  const argv = framework?.outcome.kind === 'server' ? framework.outcome.start : null;
  const start =
    argv === null
      ? findStart(dir, manifest, bun ? 'bun' : 'node')
      : { argv, reason: `${framework?.name} is started so` };
  if (start === null) {
    throw noStartCommand(
      'a Node app',
      'a start script, main, and index, server, app or main files',
      `${nxAdvice(dir)}add a "start" script to package.json`,
    );
  }
  context.notes.decisions.push(`start command: ${start.argv.join(' ')} (${start.reason})`);
  return start;
};
