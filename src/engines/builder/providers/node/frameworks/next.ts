import semver from 'semver';
import { javascriptTokens, literalOf } from '../../support/tokens.ts';
import { type Manifest, hasDependency, script } from '../manifest.ts';
import { type Outcome, type Output, type Rule, config, framework, plainFolder, server, site } from './framework.ts';

/** `next start` with nothing but a place to listen, which berth names itself. */
const PLAIN_START = /^next start( +(-p|--port|-H|--hostname)[ =]\S+)*$/;

export const next: Rule = ({ app, manifest, whole }) => {
  if (!hasDependency(manifest, 'next')) return null;
  const text = config(app, 'next');
  const folder = plainFolder(literalOf(text, 'distDir')) ?? '.next';
  const output = literalOf(text, 'output');
  const more = { caches: [`${folder}/cache`], buildEnv: { NEXT_TELEMETRY_DISABLED: '1' } };
  if (output === 'export' || /\bnext export\b/.test(script(manifest, 'build') ?? '')) {
    return framework('Next.js (export)', 'next build', site(folder === '.next' ? 'out' : folder), more);
  }
  const start = script(manifest, 'start');
  const usual = start === undefined || PLAIN_START.test(start);
  // A server of the user's own is not what the standalone folder holds.
  const takesStandalone = usual || /\bstandalone\b/.test(start);
  const own = output === undefined && decidesOutput(text) ? WARNING : undefined;
  if (whole || !takesStandalone || own !== undefined || (output === undefined && !knowsStandalone(manifest))) {
    const outcome = server(usual ? ['next', 'start'] : null);
    return framework('Next.js', 'next build', outcome, { ...more, warnings: own === undefined ? [] : [own] });
  }
  const outputs: Output[] = [
    { from: `${folder}/standalone`, to: '' },
    { from: `${folder}/static`, to: `${folder}/static` },
    { from: 'public', to: 'public', optional: true },
  ];
  const outcome: Outcome = { kind: 'server', start: ['node', 'server.js'], outputs, modules: false };
  if (output === 'standalone') return framework('Next.js (standalone)', 'next build', outcome, more);
  return framework('Next.js', 'next build', outcome, {
    ...more,
    // Next's own default for `output`, so that a config that names another one wins.
    buildEnv: { ...more.buildEnv, NEXT_PRIVATE_STANDALONE: 'true' },
    decisions: ['Next.js is built as standalone: the image holds only the files that the server needs'],
  });
};

const WARNING =
  'next.config decides its output while it runs: if it exports a site, set output = "out" in the [build] table of berth.toml';

const decidesOutput = (text: string | undefined): boolean => {
  const tokens = text === undefined ? [] : javascriptTokens(text);
  return tokens.some(
    (token, index) => token.text === 'output' && [':', ',', '=', '}'].includes(tokens[index + 1]?.text ?? ''),
  );
};

/** The variable is known since 12.2; what is no version (`latest`, `catalog:`) is taken for a newer one. */
const knowsStandalone = (manifest: Manifest): boolean => {
  const range = semver.validRange(manifest.all['next'] ?? '');
  return range === null || semver.gte(semver.minVersion(range) ?? '13.0.0', '12.2.0');
};
