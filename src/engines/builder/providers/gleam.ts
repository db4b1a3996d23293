import { invalidInput } from '#kernel/errors';
import type { Plan } from '../plan.ts';
import { TOOLS, nodeRange } from '../versions.ts';
import { toolVersionRequest } from '../versions-files.ts';
import { type PlanContext, type Provider, versionOf } from './provider.ts';
import { compiledPlan } from './support/compiled-plan.ts';
import { placeOf, readToml, textAt } from './support/fields.ts';

/** Its images have no tags that move: this release stands for the line. */
const RELEASE = '1.18.1';
const ERLANG = '28';
const SHIPMENT = 'build/erlang-shipment';

/** Apps in Gleam, on Erlang. */
export const gleam: Provider = {
  name: 'gleam',
  markers: ['gleam.toml'],
  doc: { title: 'Gleam', detects: '`gleam.toml`', notes: 'a shipment for Erlang; for JavaScript, add a Dockerfile' },
  detect: (app) => (app.has('gleam.toml') ? 'strong' : null),
  plan: planGleam,
};

function planGleam(context: PlanContext): Plan {
  const { app, overrides, notes } = context;
  const manifest = readToml(app, 'gleam.toml');
  if (textAt(manifest, 'target') === 'javascript')
    throw invalidInput(
      `${placeOf(app, 'gleam.toml', /^\s*target/)} compiles to JavaScript, which berth does not start`,
      'set target = "erlang", or add a Dockerfile',
    );
  const file = toolVersionRequest(app, { names: ['gleam'], files: [], range: nodeRange });
  const { version } = versionOf(context, TOOLS.gleam, [file]);
  if (!app.has('manifest.toml'))
    notes.warnings.push('there is no manifest.toml: versions may change from build to build; commit it');
  const release = version.includes('.') ? version : RELEASE;
  const own = overrides.build !== undefined;
  return compiledPlan(context, {
    provider: 'gleam',
    image: `erlang:${ERLANG}`,
    before: [
      {
        kind: 'copy',
        from: `ghcr.io/gleam-lang/gleam:v${release}-erlang-alpine`,
        sources: ['/bin/gleam'],
        target: '/usr/local/bin/gleam',
      },
    ],
    caches: [{ name: 'hex', target: '/root/.cache/gleam' }],
    install: {
      manifests: ['gleam.toml', ...(app.has('manifest.toml') ? ['manifest.toml'] : [])],
      commands: ['gleam deps download'],
    },
    build: ['gleam export erlang-shipment'],
    start: ['/app/entrypoint.sh', 'run'],
    endings: [],
    outputs: {
      copies: [
        { kind: 'copy', from: 'build', sources: ['/usr/local/lib/erlang/'], target: '/usr/local/lib/erlang/' },
        { kind: 'run', command: 'ln -s ../lib/erlang/bin/erl /usr/local/bin/erl' },
        { kind: 'copy', from: 'build', sources: [own ? '/app/' : `/app/${SHIPMENT}/`], target: './', owned: true },
      ],
      programs: `/usr/local/lib/erlang ${own ? '.' : SHIPMENT}`,
    },
    runtimeEnv: { LANG: 'C.UTF-8' },
    remember: { gleam: version },
  });
}
