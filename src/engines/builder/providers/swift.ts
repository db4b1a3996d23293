import type { Plan } from '../plan.ts';
import type { Dir } from '../source-tree.ts';
import { TOOLS, type VersionRequest, nodeRange } from '../versions.ts';
import { toolVersionRequest } from '../versions-files.ts';
import { type PlanContext, type Provider, versionOf } from './provider.ts';
import { chooseProgram } from './support/choose.ts';
import { compiledPlan, touchSources } from './support/compiled-plan.ts';
import { BINARY } from './support/compiled.ts';
import { type Token, javascriptTokens } from './support/tokens.ts';

/** Servers in Swift. */
export const swift: Provider = {
  name: 'swift',
  markers: ['Package.swift'],
  doc: {
    title: 'Swift',
    detects: '`Package.swift`',
    notes:
      'the only executable, or the one with the name of the service or package; Vapor and Hummingbird listen on `PORT`',
  },
  detect: (app) => (app.has('Package.swift') ? 'strong' : null),
  plan: planSwift,
};

function planSwift(context: PlanContext): Plan {
  const { app, overrides } = context;
  const source = app.read('Package.swift') ?? '';
  const tokens = javascriptTokens(source);
  const file = toolVersionRequest(app, { names: ['swift'], files: ['.swift-version'], range: nodeRange });
  const { version } = versionOf(context, TOOLS.swift, [toolsVersion(source), file]);
  const packages = tokens.filter(({ kind }) => kind === 'string').map(({ text }) => text.replace(/(\.git)?\/?$/, ''));
  const framework = packages.some((url) => url.endsWith('/vapor'))
    ? 'Vapor'
    : packages.some((url) => url.endsWith('/hummingbird'))
      ? 'Hummingbird'
      : null;
  const name = overrides.build !== undefined ? 'app' : executableOf(context, tokens);
  const resolved = app.has('Package.resolved');
  return compiledPlan(context, {
    provider: 'swift',
    framework,
    image: `swift:${version}`,
    caches: [
      { name: 'swiftpm', target: '/root/.cache/org.swift.swiftpm' },
      { name: 'swift-build', target: '/app/.build', locked: true },
    ],
    install: {
      manifests: ['Package.swift', ...(resolved ? ['Package.resolved'] : [])],
      commands: [`swift package resolve${resolved ? ' --force-resolved-versions' : ''}`],
    },
    build: [
      touchSources('.build'),
      `swift build -c release --static-swift-stdlib --product ${name}`,
      `install -D "$(swift build -c release --static-swift-stdlib --show-bin-path)/${name}" /out/app`,
    ],
    start: framework === null ? undefined : startOf(framework),
    endings: ['.swift'],
    remember: { swift: version },
  });
}

const startOf = (framework: string): string[] => [
  '/bin/sh',
  '-c',
  framework === 'Vapor'
    ? `exec ${BINARY} serve --env production --hostname 0.0.0.0 --port "\${PORT:-8080}"`
    : `exec ${BINARY} --hostname 0.0.0.0 --port "\${PORT:-8080}"`,
];

/** `// swift-tools-version: 5.9`: any later Swift reads it. */
const toolsVersion = (source: string): VersionRequest | null => {
  const written = /^\/\/\s*swift-tools-version\s*:?\s*(\d+\.\d+(?:\.\d+)?)/m.exec(source)?.[1];
  return written === undefined
    ? null
    : { range: `>=${written}`, written, source: 'swift-tools-version in Package.swift' };
};

const executableOf = (context: PlanContext, tokens: Token[]): string => {
  const products = named(tokens, 'executable');
  const own = named(tokens, 'Package')[0];
  return chooseProgram(
    context,
    products.length > 0 ? products : [...named(tokens, 'executableTarget'), ...mainTargets(context.app, tokens)],
    {
      where: 'Package.swift',
      what: 'executable',
      own: own === undefined ? undefined : { name: own, reason: 'it has the name of the package' },
      none: {
        title: 'a Swift package',
        tried: 'executable products and targets in Package.swift',
        ways: 'add an executableTarget',
      },
    },
  );
};

/** Before Swift 5.4, a target with a main.swift was a program. */
const mainTargets = (app: Dir, tokens: Token[]): string[] =>
  named(tokens, 'target').filter((name) => app.has(`Sources/${name}/main.swift`));

/** The names in `.executable(name: "x", …)` and the like. */
const named = (tokens: Token[], call: string): string[] =>
  tokens.flatMap((token, index) => {
    const [open, label, colon, value] = tokens.slice(index + 1, index + 5);
    const fits = token.text === call && open?.text === '(' && label?.text === 'name' && colon?.text === ':';
    return fits && value?.kind === 'string' ? [value.text] : [];
  });
