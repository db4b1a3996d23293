import type { CacheMount, Plan } from '../plan.ts';
import type { Dir } from '../source-tree.ts';
import { TOOLS, type VersionRequest, nodeRange } from '../versions.ts';
import { toolVersionRequest } from '../versions-files.ts';
import { type PlanContext, type Provider, versionOf } from './provider.ts';
import { chooseProgram } from './support/choose.ts';
import { compiledPlan } from './support/compiled-plan.ts';
import { fieldsAt, placeOf, textAt } from './support/fields.ts';
import { readYaml } from './support/yaml.ts';

const ENDINGS = ['.hs', '.lhs', '.cabal'];

/** Apps in Haskell, by Stack or Cabal. */
export const haskell: Provider = {
  name: 'haskell',
  markers: ['stack.yaml', '*.cabal', 'cabal.project'],
  doc: {
    title: 'Haskell',
    detects: '`stack.yaml`, `*.cabal`, `cabal.project`',
    notes:
      'Stack when there is a `stack.yaml`, else Cabal, with the GHC of `with-compiler`, `tested-with` or the bounds of `base`; the only executable, or the one with the name of the service or package',
  },
  detect: (app) =>
    app.has('stack.yaml') || app.has('cabal.project') || cabalFile(app) !== undefined ? 'strong' : null,
  plan: planHaskell,
};

const cabalFile = (app: Dir): string | undefined => app.entries().find((name) => name.endsWith('.cabal'));

function planHaskell(context: PlanContext): Plan {
  const { app, overrides } = context;
  const stack = app.has('stack.yaml');
  const { version } = versionOf(context, TOOLS.ghc, stack ? [] : ghcRequests(app));
  const name = overrides.build !== undefined ? 'app' : executableOf(context);
  const manifests = manifestsOf(app);
  // Stack fetches the GHC of its snapshot, unless the image's own fits.
  const caches: CacheMount[] = stack
    ? [
        { name: 'stack', target: '/root/.stack' },
        { name: 'stack-work', target: '/app/.stack-work', locked: true },
      ]
    : [
        { name: 'cabal', target: '/root/.cabal' },
        { name: 'cabal-state', target: '/root/.local/state/cabal' },
        { name: 'cabal-dist', target: '/app/dist-newstyle', locked: true },
      ];
  return compiledPlan(context, {
    provider: 'haskell',
    image: `haskell:${version}`,
    caches,
    install: stack
      ? { manifests, commands: ['stack build --only-dependencies'] }
      : { manifests, commands: ['cabal update', `cabal build --only-dependencies exe:${name}`] },
    build: stack
      ? [`stack build :${name} --copy-bins --local-bin-path /out`, `install -Ds /out/${name} /out/app`]
      : [
          '{ test -d /root/.cabal/packages || test -d /root/.cache/cabal/packages || cabal update; }',
          `cabal build exe:${name}`,
          `install -Ds "$(cabal list-bin exe:${name})" /out/app`,
        ],
    endings: ENDINGS,
    remember: { ghc: version },
  });
}

const manifestsOf = (app: Dir): string[] => {
  const top = ['stack.yaml', 'stack.yaml.lock', 'package.yaml', 'cabal.project', 'cabal.project.freeze'].filter(
    (name) => app.has(name),
  );
  const packages = app
    .files()
    .filter((file) => /^([^/.][^/]*\/)?([^/]+\.cabal|package\.yaml)$/.test(file) && !top.includes(file));
  return [...top, ...packages];
};

/** Executables of every package of the project. */
const executableOf = (context: PlanContext): string => {
  const { app } = context;
  const manifests = manifestsOf(app);
  const names = manifests.flatMap((file) => {
    if (file.endsWith('.cabal'))
      return [...(app.read(file) ?? '').matchAll(/^executable\s+(\S+)/gim)].map(([, name = '']) => name);
    return file.endsWith('package.yaml') ? Object.keys(fieldsAt(readYaml(app, file), 'executables')) : [];
  });
  const own =
    /^name\s*:\s*(\S+)/im.exec(app.read(cabalFile(app) ?? '') ?? '')?.[1] ??
    textAt(readYaml(app, 'package.yaml'), 'name');
  return chooseProgram(context, names, {
    where: 'this Haskell project',
    what: 'executable',
    own: own === undefined ? undefined : { name: own, reason: 'it has the name of the package' },
    none: {
      title: 'a Haskell project',
      tried: 'executable sections of *.cabal and package.yaml',
      ways: 'add an executable',
    },
  });
};

/** Which version of base each GHC brings. */
const BASE: Record<string, string> = {
  '4.15': '9.0',
  '4.16': '9.2',
  '4.17': '9.4',
  '4.18': '9.6',
  '4.19': '9.8',
  '4.20': '9.10',
  '4.21': '9.12',
  '4.22': '9.14',
};

const ghcRequests = (app: Dir): (VersionRequest | null)[] => {
  const compiler = /^\s*with-compiler:\s*ghc-(\d+\.\d+(?:\.\d+)?)/m.exec(app.read('cabal.project') ?? '')?.[1];
  const file = cabalFile(app) ?? '';
  const text = app.read(file) ?? '';
  const base = /\bbase\s*(?:\^>=|>=?|==)\s*(\d+\.\d+)/.exec(text)?.[1];
  const tested = [...(/^tested-with\s*:(.*(?:\n[ \t]+.*)*)/im.exec(text)?.[1] ?? '').matchAll(/(\d+\.\d+)(?:\.\d+)?/g)]
    .map(([, line = '']) => line)
    .at(-1);
  const ghc = base === undefined ? undefined : BASE[base];
  return [
    compiler === undefined
      ? null
      : { range: compiler, written: compiler, source: placeOf(app, 'cabal.project', /with-compiler/) },
    tested === undefined
      ? null
      : { range: tested, written: tested, source: `tested-with in ${placeOf(app, file, /^tested-with/i)}` },
    ghc === undefined ? null : { range: ghc, written: `base ${base ?? ''}`, source: placeOf(app, file, /\bbase\b/) },
    toolVersionRequest(app, { names: ['ghc', 'haskell'], files: [], range: nodeRange }),
  ];
};
