import { APP_DIR, type Stage, type Step } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { safePath } from '../../dockerfile-text.ts';
import { TOOLS, type VersionRequest, nodeRange } from '../../versions.ts';
import { toolVersionRequest } from '../../versions-files.ts';
import { cachesOf, installCommand, runScript } from '../node/commands.ts';
import { installEnv } from '../node/deps.ts';
import { manifestsFor } from '../node/install.ts';
import { lockDrift, lockedNames } from '../node/lock-file.ts';
import { type Manifest, readManifest, script } from '../node/manifest.ts';
import { systemNeeds } from '../node/native.ts';
import { choosePackageManager, toolInstall } from '../node/package-manager.ts';
import { registryVariables } from '../node/registry.ts';
import { type PlanContext, aptSteps, versionOf } from '../provider.ts';
import { placeOf, textAt } from './fields.ts';
import { sourceOf } from './source.ts';

/** The stage that installs the packages of an app's assets. */
const STAGE = 'modules';

/** How an app of another language gets its JavaScript and CSS built: with Node, and without it in the image. */
export interface NodeAssets {
  /** Installs the packages; comes before the stage that builds. */
  stage: Stage;
  /** Bring Node, the package manager and the packages into the stage that builds, where the language's own tools are. */
  bring: Step[];
  /** The build script; empty when there is none. */
  build: string[];
  install: string[];
  /** Names of project variables that the install may see. */
  installEnv: string[];
  remember: Record<string, string>;
}

/** Takes `node_modules` out of the image again, in the step that built. */
export const DROP_MODULES = 'rm -rf node_modules';

/** Plans the assets of an app; null without a package.json, or when nothing in it is built. */
export const nodeAssets = (context: PlanContext, scripts: readonly string[], always = false): NodeAssets | null => {
  const { app, notes, projectEnv, remembered } = context;
  const manifest = readManifest(app);
  const chosen = manifest === undefined ? undefined : scripts.find((name) => script(manifest, name) !== undefined);
  if (manifest === undefined || (chosen === undefined && !always)) return null;
  const manager = choosePackageManager(app, manifest, remembered);
  const version = versionOf(withoutVersion(context), TOOLS.node, nodeRequests(app, manifest)).version;
  notes.decisions.push(
    `assets by ${manager.name}${chosen === undefined ? '' : `, script ${chosen}`}: package.json is there`,
  );
  const drift = manager.lockFile === null ? [] : lockDrift(app, manager.lockFile, manifest);
  if (drift.length > 0)
    notes.warnings.push(
      `WARNING: ${manager.lockFile} does not match package.json (${drift.slice(0, 8).join(', ')}): versions other than the locked ones may be installed; update the lock file and commit it`,
    );
  const frozen = manager.lockFile !== null && drift.length === 0;
  const install =
    Object.keys(manifest.all).length === 0 ? [] : [installCommand(manager, { production: false, frozen })];
  const needs = systemNeeds(app, manifest, lockedNames(app, manager.lockFile));
  const { files, folders, wholeSource } = manifestsFor(app, manifest, null);
  const folder = safePath(sourceOf(app));
  const tool = toolInstall(manager);
  const variables = registryVariables(app, projectEnv);
  const copies: Step[] = wholeSource
    ? [{ kind: 'copy', sources: [`${folder}/`], target: './' }]
    : [
        { kind: 'copy', sources: files.map((file) => `${folder}/${file}`), target: './' },
        ...folders.map((path): Step => ({ kind: 'copy', sources: [`${folder}/${path}/`], target: `./${path}/` })),
      ];
  return {
    stage: {
      name: STAGE,
      from: `node:${version}${needs.compiled.length > 0 ? '' : '-slim'}`,
      steps: [
        ...aptSteps(needs.build),
        ...(tool === undefined ? [] : [{ kind: 'run', caches: cachesOf('npm'), command: tool } as const]),
        { kind: 'workdir', path: APP_DIR },
        { kind: 'env', values: installEnv({ manager, needs }) },
        ...copies,
        {
          kind: 'run',
          caches: cachesOf(manager.name),
          // The folder is copied from here, so it must be there even when it stays empty.
          command: [...install, 'mkdir -p node_modules'].join(' && '),
          ...(variables.length > 0 ? { env: 'install' as const } : {}),
        },
      ],
    },
    bring: [
      ...['/usr/local/bin/', '/usr/local/lib/node_modules/'].map((path): Step => ({
        kind: 'copy',
        from: STAGE,
        sources: [path],
        target: path,
      })),
      { kind: 'copy', from: STAGE, sources: [`${APP_DIR}/node_modules/`], target: './node_modules/' },
    ],
    build: chosen === undefined ? [] : [runScript(manager, chosen, '')],
    install,
    installEnv: variables,
    remember: { node: version, ...(manager.version === null ? {} : { [manager.name]: manager.version }) },
  };
};

/** `[build] version` is about the app's own language. */
const withoutVersion = (context: PlanContext): PlanContext => {
  const { version: _version, ...overrides } = context.overrides;
  return { ...context, overrides };
};

const nodeRequests = (app: Dir, { raw }: Manifest): (VersionRequest | null)[] => {
  const written = textAt(raw, 'engines', 'node');
  const source = `engines.node in ${placeOf(app, 'package.json', /"node"\s*:\s*"/)}`;
  return [
    written === undefined ? null : { range: nodeRange(written), written, source },
    toolVersionRequest(app, { names: ['node', 'nodejs'], files: ['.nvmrc', '.node-version'], range: nodeRange }),
  ];
};
