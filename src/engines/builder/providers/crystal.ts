import type { Plan } from '../plan.ts';
import { TOOLS, type VersionRequest, nodeRange } from '../versions.ts';
import { toolVersionRequest } from '../versions-files.ts';
import { type PlanContext, type Provider, versionOf } from './provider.ts';
import { chooseProgram } from './support/choose.ts';
import { compiledPlan } from './support/compiled-plan.ts';
import { fieldsAt, placeOf, textAt } from './support/fields.ts';
import { readYaml } from './support/yaml.ts';

/** Apps in Crystal. */
export const crystal: Provider = {
  name: 'crystal',
  markers: ['shard.yml'],
  doc: {
    title: 'Crystal',
    detects: '`shard.yml`',
    notes:
      'the only target, or the one with the name of the service or shard; shared libraries go into the image with the program',
  },
  detect: (app) => (app.has('shard.yml') ? 'strong' : null),
  plan: planCrystal,
};

function planCrystal(context: PlanContext): Plan {
  const { app, overrides, notes } = context;
  const shard = readYaml(app, 'shard.yml') ?? {};
  const written = textAt(shard, 'crystal');
  const declared: VersionRequest | null =
    written === undefined
      ? null
      : { range: crystalRange(written), written, source: `crystal in ${placeOf(app, 'shard.yml', /^crystal:/)}` };
  const file = toolVersionRequest(app, { names: ['crystal'], files: ['.crystal-version'], range: nodeRange });
  const { version } = versionOf(context, TOOLS.crystal, [declared, file]);
  const named = textAt(shard, 'name');
  const target =
    overrides.build !== undefined
      ? 'app'
      : chooseProgram(context, Object.keys(fieldsAt(shard, 'targets')), {
          where: 'shard.yml',
          what: 'target',
          own: named === undefined ? undefined : { name: named, reason: 'it has the name of the shard' },
          none: {
            title: 'a Crystal shard',
            tried: 'targets in shard.yml',
            ways: `add "targets: { ${named ?? 'app'}: { main: src/${named ?? 'app'}.cr } }" to shard.yml`,
          },
        });
  const locked = app.has('shard.lock');
  if (!locked) notes.warnings.push('there is no shard.lock: versions may change from build to build; commit it');
  // --production insists on a lock file.
  const install = `shards install ${locked ? '--production --frozen' : '--without-development'} --skip-postinstall`;
  return compiledPlan(context, {
    provider: 'crystal',
    image: `crystallang/crystal:${version}`,
    caches: [
      { name: 'shards', target: '/root/.cache/shards' },
      { name: 'crystal', target: '/root/.cache/crystal' },
    ],
    install: { manifests: ['shard.yml', ...(locked ? ['shard.lock'] : [])], commands: [install] },
    build: [`shards build ${target} --production --release --no-debug`, `install -Ds bin/${target} /out/app`],
    endings: ['.cr', '.ecr'],
    runtimeEnv: { AMBER_ENV: 'production', KEMAL_ENV: 'production', LUCKY_ENV: 'production' },
    remember: { crystal: version },
  });
}

/** `~> 1.15` as in Ruby; a bare version is the oldest that will do. */
const crystalRange = (written: string): string =>
  written
    .split(',')
    .map((part) => part.trim())
    .map((part) =>
      /^\d/.test(part) ? `>=${part}` : part.replace(/^~>\s*(\d+)\.(\d+)$/, '^$1.$2').replace(/^~>\s*/, '~'),
    )
    .join(' ');
