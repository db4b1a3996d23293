import { invalidInput } from '#kernel/errors';
import type { Plan } from '../plan.ts';
import type { Dir } from '../source-tree.ts';
import { TOOLS, type VersionRequest, nodeRange } from '../versions.ts';
import { toolVersionRequest } from '../versions-files.ts';
import { type PlanContext, type Provider, versionOf } from './provider.ts';
import { chooseProgram } from './support/choose.ts';
import { compiledPlan } from './support/compiled-plan.ts';
import { type Fields, fieldsAt, placeOf, textAt } from './support/fields.ts';
import { readYaml } from './support/yaml.ts';

/** Servers in Dart. */
export const dart: Provider = {
  name: 'dart',
  markers: ['pubspec.yaml'],
  doc: {
    title: 'Dart',
    detects: '`pubspec.yaml`',
    notes:
      '`bin/server.dart`, else the only program of `bin/`, or the one with the name of the service or package, compiled; Dart Frog; build_runner is run',
  },
  detect: (app) => (app.has('pubspec.yaml') ? 'strong' : null),
  plan: planDart,
};

function planDart(context: PlanContext): Plan {
  const { app, overrides, notes } = context;
  const pubspec = readYaml(app, 'pubspec.yaml') ?? {};
  if (fieldsAt(pubspec, 'dependencies', 'flutter')['sdk'] === 'flutter')
    throw invalidInput(
      'pubspec.yaml is for Flutter, whose SDK has no official image',
      'build the web app elsewhere and deploy build/web, or add a Dockerfile',
    );
  const written = textAt(pubspec, 'environment', 'sdk');
  const declared: VersionRequest | null =
    written === undefined
      ? null
      : { range: written, written, source: `environment.sdk in ${placeOf(app, 'pubspec.yaml', /^\s+sdk:/)}` };
  const { version } = versionOf(context, TOOLS.dart, [
    declared,
    toolVersionRequest(app, { names: ['dart'], files: [], range: nodeRange }),
  ]);
  const frog = has(pubspec, 'dart_frog');
  const locked = app.has('pubspec.lock');
  if (!locked) notes.warnings.push('there is no pubspec.lock: versions may change from build to build; commit it');
  const generate = has(pubspec, 'build_runner') ? ['dart run build_runner build --delete-conflicting-outputs'] : [];
  const frogBuild = ['dart pub global activate dart_frog_cli', 'dart pub global run dart_frog_cli:dart_frog build'];
  const program = overrides.build !== undefined ? '' : frog ? 'build/bin/server.dart' : programOf(context, pubspec);
  return compiledPlan(context, {
    provider: 'dart',
    framework: frog ? 'Dart Frog' : null,
    image: `dart:${version}`,
    caches: [{ name: 'pub', target: '/root/.pub-cache' }],
    install: has(pubspec, 'path', true)
      ? null
      : {
          manifests: ['pubspec.yaml', ...(locked ? ['pubspec.lock'] : [])],
          commands: [`dart pub get${locked ? ' --enforce-lockfile' : ''}`],
        },
    // The packages lie in a cache, which may have been dropped since they were fetched.
    build: [
      'dart pub get',
      ...generate,
      ...(frog ? frogBuild : []),
      'mkdir -p /out',
      `dart compile exe ${program} -o /out/app`,
    ],
    endings: ['.dart'],
    remember: { dart: version },
  });
}

/** Whether a package is a dependency; with `source`, whether any of them comes from that kind of place. */
const has = (pubspec: Fields, name: string, source = false): boolean =>
  ['dependencies', 'dev_dependencies', 'dependency_overrides'].some((key) => {
    const all = fieldsAt(pubspec, key);
    return source ? Object.keys(all).some((one) => fieldsAt(all, one)[name] !== undefined) : Object.hasOwn(all, name);
  });

const programOf = (context: PlanContext, pubspec: Fields): string => {
  const { app, notes } = context;
  if (app.has('bin/server.dart')) {
    notes.decisions.push('program bin/server.dart: it has the usual name');
    return 'bin/server.dart';
  }
  const name = textAt(pubspec, 'name');
  const chosen = chooseProgram(context, programsOf(app), {
    where: 'bin/',
    what: 'program',
    own: name === undefined ? undefined : { name, reason: 'it has the name of the package' },
    none: { title: 'a Dart package', tried: 'bin/server.dart and other files in bin/', ways: 'add bin/server.dart' },
  });
  return `bin/${chosen}.dart`;
};

const programsOf = (app: Dir): string[] => app.files().flatMap((file) => /^bin\/([^/]+)\.dart$/.exec(file)?.[1] ?? []);
