import type { CacheMount, Plan } from '../plan.ts';
import type { Dir } from '../source-tree.ts';
import { TOOLS, type VersionRequest, nodeRange } from '../versions.ts';
import { toolVersionRequest } from '../versions-files.ts';
import { packagesFor } from './cpp/system.ts';
import { type PlanContext, type Provider, versionOf } from './provider.ts';
import { chooseProgram } from './support/choose.ts';
import { compiledPlan } from './support/compiled-plan.ts';
import { placeOf } from './support/fields.ts';
import { type Token, javascriptTokens } from './support/tokens.ts';

const CACHES: CacheMount[] = [
  { name: 'zig', target: '/root/.cache/zig' },
  { name: 'zig-build', target: '/app/.zig-cache', locked: true },
];

/** Apps in Zig. */
export const zig: Provider = {
  name: 'zig',
  markers: ['build.zig'],
  doc: {
    title: 'Zig',
    detects: '`build.zig`',
    notes:
      'the only `addExecutable`, or the one with the name of the service; Zig from PyPI, of the line that `minimum_zig_version` names',
  },
  detect: (app) => (app.has('build.zig') ? 'strong' : null),
  plan: planZig,
};

function planZig(context: PlanContext): Plan {
  const { app, overrides } = context;
  const tokens = javascriptTokens(app.read('build.zig') ?? '');
  const { version } = versionOf(context, TOOLS.zig, [
    minimum(app),
    toolVersionRequest(app, { names: ['zig'], files: ['.zigversion', '.zig-version'], range: nodeRange }),
  ]);
  const name =
    overrides.build !== undefined
      ? 'app'
      : chooseProgram(context, executables(tokens), {
          where: 'build.zig',
          what: 'executable',
          own: { name: packageName(app), reason: 'it has the name of the package' },
          none: {
            title: 'a Zig project',
            tried: 'addExecutable in build.zig',
            ways: 'add an executable with a literal name',
          },
        });
  // A program for this very processor may not run on the next machine.
  const options = [
    ...(uses(tokens, 'standardTargetOptions') ? ['-Dcpu=baseline'] : []),
    ...(uses(tokens, 'standardOptimizeOption') ? ['-Doptimize=ReleaseSafe'] : []),
  ];
  return compiledPlan(context, {
    provider: 'zig',
    image: `python:${TOOLS.python.fallback}-slim`,
    apt: [...(/"git\+/.test(app.read('build.zig.zon') ?? '') ? ['git'] : []), ...packagesFor(libraries(tokens))],
    before: [
      {
        kind: 'run',
        caches: [{ name: 'pip', target: '/root/.cache/pip' }],
        command: `pip install --root-user-action=ignore --disable-pip-version-check --quiet 'ziglang${pythonPin(version)}' && ln -s "$(python -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/zig" /usr/local/bin/zig`,
      },
    ],
    caches: CACHES,
    install: app.has('build.zig.zon')
      ? { manifests: ['build.zig', 'build.zig.zon'], commands: pathDependencies(app) ? [] : ['zig build --fetch'] }
      : null,
    build: [`zig build ${[...options, '--prefix', '/out/zig'].join(' ')}`, `install -D /out/zig/bin/${name} /out/app`],
    endings: ['.zig', '.zon'],
    remember: { zig: version },
  });
}

/** `0.15` is any release of that line, `0.15.1` that one. */
const pythonPin = (version: string): string => (version.split('.').length > 2 ? `==${version}` : `==${version}.*`);

/** Zig changes with every line: the one that a project was made for is the one that builds it. */
const minimum = (app: Dir): VersionRequest | null => {
  const written = /\.minimum_zig_version\s*=\s*"([^"]+)"/.exec(withoutComments(app.read('build.zig.zon')))?.[1];
  if (written === undefined) return null;
  const line = /^\d+\.\d+/.exec(written)?.[0];
  return {
    range: line ?? written,
    written,
    source: `minimum_zig_version in ${placeOf(app, 'build.zig.zon', /\.minimum_zig_version/)}`,
  };
};

const withoutComments = (text = ''): string => text.replaceAll(/^\s*\/\/.*$/gm, '');

const packageName = (app: Dir): string =>
  /\.name\s*=\s*(?:\.(\w+)|"([^"]+)")/
    .exec(withoutComments(app.read('build.zig.zon')))
    ?.slice(1)
    .find((name) => name !== undefined) ?? '';

const pathDependencies = (app: Dir): boolean => /\.path\s*=/.test(withoutComments(app.read('build.zig.zon')));

const uses = (tokens: Token[], name: string): boolean =>
  tokens.some(({ kind, text }) => kind === 'name' && text === name);

/** The names in `addExecutable(.{ .name = "x" })`. */
const executables = (tokens: Token[]): string[] =>
  tokens.flatMap((token, index) => {
    if (token.kind !== 'name' || token.text !== 'addExecutable') return [];
    const rest = tokens.slice(index, index + 40);
    const name = rest.findIndex(({ text }, at) => text === 'name' && rest[at + 1]?.text === '=');
    const value = rest[name + 2];
    return name >= 0 && value?.kind === 'string' ? [value.text] : [];
  });

const libraries = (tokens: Token[]): string[] =>
  tokens.flatMap((token, index) =>
    token.text.startsWith('linkSystemLibrary') && tokens[index + 2]?.kind === 'string'
      ? (tokens[index + 2]?.text ?? [])
      : [],
  );
