import { describe, expect, test } from 'bun:test';
import { type Files, planOf, refusal } from './support.ts';

const image = (files: Files): string | undefined => planOf(files).stages[0]?.from;
const last = (files: Files, service = 'web'): string | undefined => planOf(files, { service }).build.at(-1);

describe('Gleam', () => {
  const TOML = 'name = "shop"\nversion = "1.0.0"\n';
  test('is shipped with Erlang', () => {
    const plan = planOf({ 'gleam.toml': TOML, 'manifest.toml': '', 'src/shop.gleam': '' });
    expect({ build: plan.build, start: plan.start, install: plan.install }).toEqual({
      build: ['gleam export erlang-shipment'],
      start: ['/app/entrypoint.sh', 'run'],
      install: ['gleam deps download'],
    });
    expect(plan.stages[0]?.steps[0]).toMatchObject({ from: 'ghcr.io/gleam-lang/gleam:v1.18.1-erlang-alpine' });
  });

  test('an exact version is taken to the letter', () => {
    expect(planOf({ 'gleam.toml': TOML }, { env: { BERTH_VERSION: '1.13.0' } }).stages[0]?.steps[0]).toMatchObject({
      from: 'ghcr.io/gleam-lang/gleam:v1.13.0-erlang-alpine',
    });
  });

  test('JavaScript is refused with its place', () => {
    expect(refusal({ 'gleam.toml': `${TOML}target = "javascript"\n` }).message).toStartWith(
      'gleam.toml:3 compiles to JavaScript',
    );
  });
});

describe('Zig', () => {
  const build = (...names: string[]): string =>
    [
      'const target = b.standardTargetOptions(.{});',
      ...names.map((name) => `const exe = b.addExecutable(.{ .name = "${name}", .root_module = m });`),
    ].join('\n');
  test.each<[string, Files, string, string]>([
    ['the only executable', { 'build.zig': build('shop') }, 'web', 'install -D /out/zig/bin/shop /out/app'],
    ['the one of the service', { 'build.zig': build('a', 'b') }, 'b', 'install -D /out/zig/bin/b /out/app'],
    [
      'the one of the package',
      { 'build.zig': build('a', 'b'), 'build.zig.zon': '.{ .name = .a, .version = "0.0.1" }' },
      'web',
      'install -D /out/zig/bin/a /out/app',
    ],
    [
      'not one in a comment',
      { 'build.zig': `// ${build('x').split('\n')[1]}\n${build('a')}` },
      'web',
      'install -D /out/zig/bin/a /out/app',
    ],
  ])('%s', (_title, files, service, wanted) => {
    expect(last(files, service)).toBe(wanted);
  });

  test('only options that build.zig has are passed', () => {
    expect(planOf({ 'build.zig': build('a') }).build[0]).toBe('zig build -Dcpu=baseline --prefix /out/zig');
    expect(planOf({ 'build.zig': 'b.standardOptimizeOption(.{}); b.addExecutable(.{ .name = "a" });' }).build[0]).toBe(
      'zig build -Doptimize=ReleaseSafe --prefix /out/zig',
    );
  });

  test('the line of the oldest Zig that will do', () => {
    const plan = planOf({
      'build.zig': build('a'),
      'build.zig.zon': '.{\n  // .minimum_zig_version = "0.11.0",\n  .minimum_zig_version = "0.14.1",\n}',
    });
    expect(plan.versions).toEqual([
      { tool: 'zig', version: '0.14', reason: 'minimum_zig_version in build.zig.zon:2 says "0.14.1"' },
    ]);
    expect(JSON.stringify(plan.stages[0])).toContain("'ziglang==0.14.*'");
  });

  test('system libraries come from Debian', () => {
    expect(planOf({ 'build.zig': `${build('a')}\nexe.linkSystemLibrary("sqlite3");` }).apt.build).toContain(
      'libsqlite3-dev',
    );
  });
});

describe('Crystal', () => {
  const shard = (targets: string, more = ''): Files => ({
    'shard.yml': `name: shop\nversion: 0.1.0\n${more}targets:\n${targets}`,
    'shard.lock': '',
  });
  test.each<[string, string, string, string]>([
    ['the only target', '  web:\n    main: src/web.cr\n', 'x', 'install -Ds bin/web /out/app'],
    ['the one of the service', '  a:\n    main: a.cr\n  b:\n    main: b.cr\n', 'b', 'install -Ds bin/b /out/app'],
    ['the one of the shard', '  a:\n    main: a.cr\n  shop:\n    main: b.cr\n', 'x', 'install -Ds bin/shop /out/app'],
  ])('%s', (_title, targets, service, wanted) => {
    expect(last(shard(targets), service)).toBe(wanted);
  });

  test('several, none, and a broken shard.yml', () => {
    expect(refusal(shard('  a: {}\n  b: {}\n')).message).toBe('shard.yml has several targets: a, b');
    expect(refusal({ 'shard.yml': 'name: shop\n' }).hint).toStartWith(
      'add "targets: { shop: { main: src/shop.cr } }" to shard.yml',
    );
    expect(refusal({ 'shard.yml': 'name: a\n  b: [' }).message).toStartWith('shard.yml:1: ');
  });

  test('without a lock file it warns', () => {
    const plan = planOf({ 'shard.yml': 'name: a\ncrystal: ">= 1.10.0, < 2.0"\ntargets:\n  a:\n    main: a.cr\n' });
    expect({ warnings: plan.warnings.length, install: plan.install, image: plan.stages[0]?.from }).toEqual({
      warnings: 1,
      install: ['shards install --without-development --skip-postinstall'],
      image: 'crystallang/crystal:1',
    });
  });
});

describe('Dart', () => {
  const pub = (more = '', files: Files = {}): Files => ({
    'pubspec.yaml': `name: shop\nenvironment:\n  sdk: ^3.4.0\n${more}`,
    'pubspec.lock': '',
    ...files,
  });
  test.each<[string, Files, string, string]>([
    ['bin/server.dart', pub('', { 'bin/server.dart': '', 'bin/tool.dart': '' }), 'web', 'bin/server.dart'],
    ['the only program', pub('', { 'bin/run.dart': '' }), 'web', 'bin/run.dart'],
    ['the one of the package', pub('', { 'bin/shop.dart': '', 'bin/tool.dart': '' }), 'web', 'bin/shop.dart'],
    [
      'Dart Frog',
      pub('dependencies:\n  dart_frog: ^1.0.0\n', { 'routes/index.dart': '' }),
      'web',
      'build/bin/server.dart',
    ],
  ])('%s', (_title, files, service, program) => {
    expect(last(files, service)).toBe(`dart compile exe ${program} -o /out/app`);
  });

  test('generated code, versions and lock files', () => {
    const plan = planOf(pub('dev_dependencies:\n  build_runner: ^2.4.0\n', { 'bin/server.dart': '' }));
    expect({ build: plan.build[1], install: plan.install, image: plan.stages[0]?.from }).toEqual({
      build: 'dart run build_runner build --delete-conflicting-outputs',
      install: ['dart pub get --enforce-lockfile'],
      image: 'dart:3',
    });
  });

  test('several, none, and Flutter', () => {
    expect(refusal(pub('', { 'bin/a.dart': '', 'bin/b.dart': '' })).message).toBe('bin/ has several programs: a, b');
    expect(refusal(pub()).message).toStartWith('a Dart package was detected, but it has no start command');
    expect(refusal(pub('dependencies:\n  flutter:\n    sdk: flutter\n')).message).toStartWith(
      'pubspec.yaml is for Flutter',
    );
  });
});

describe('Swift', () => {
  const swift = (targets: string, tools = '5.9', files: Files = {}): Files => ({
    'Package.swift': `// swift-tools-version:${tools}\nimport PackageDescription\nlet package = Package(name: "shop", ${targets})`,
    'Package.resolved': '{}',
    ...files,
  });
  const product = (files: Files, service = 'web'): string | undefined =>
    /--product (\S+)/.exec(planOf(files, { service }).build[1] ?? '')?.[1];
  test.each<[string, Files, string, string]>([
    [
      'the only target',
      swift('targets: [.executableTarget(name: "App", dependencies: []), .testTarget(name: "T")]'),
      'web',
      'App',
    ],
    [
      'a product over targets',
      swift(
        'products: [.executable(name: "web", targets: ["A"])], targets: [.executableTarget(name: "A"), .executableTarget(name: "B")]',
      ),
      'x',
      'web',
    ],
    [
      'the one of the package',
      swift('targets: [.executableTarget(name: "shop"), .executableTarget(name: "B")]'),
      'web',
      'shop',
    ],
    [
      'an older package',
      swift('targets: [.target(name: "Run"), .target(name: "App")]', '5.2', { 'Sources/Run/main.swift': '' }),
      'web',
      'Run',
    ],
    [
      'not in a comment',
      swift('/* .executableTarget(name: "X") */ targets: [.executableTarget(name: "A")]'),
      'web',
      'A',
    ],
  ])('%s', (_title, files, service, wanted) => {
    expect(product(files, service)).toBe(wanted);
  });

  test('Vapor listens on PORT', () => {
    const plan = planOf(
      swift(
        'dependencies: [.package(url: "https://github.com/vapor/vapor.git", from: "4.99.3")], targets: [.executableTarget(name: "App")]',
      ),
    );
    expect({ framework: plan.framework, start: plan.start[2] }).toEqual({
      framework: 'Vapor',
      start: 'exec /usr/local/bin/app serve --env production --hostname 0.0.0.0 --port "${PORT:-8080}"',
    });
  });

  test('versions, several and none', () => {
    expect(image(swift('targets: [.executableTarget(name: "A")]'))).toBe('swift:6.2');
    expect(image(swift('targets: [.executableTarget(name: "A")]', '5.9', { '.swift-version': '5.10.1' }))).toBe(
      'swift:5.10',
    );
    expect(refusal(swift('targets: [.executableTarget(name: "A"), .executableTarget(name: "B")]')).message).toBe(
      'Package.swift has several executables: A, B',
    );
    expect(refusal(swift('targets: [.target(name: "Lib")]')).message).toStartWith('a Swift package was detected');
  });
});

describe('Haskell', () => {
  const cabal = (more = '', name = 'shop'): string => `cabal-version: 2.4\nname: ${name}\nversion: 0.1\n${more}`;
  const EXE = '\nexecutable shop\n  main-is: Main.hs\n  build-depends: base ^>=4.18, warp\n';
  test.each<[string, Files, string, string]>([
    ['Cabal', { 'shop.cabal': cabal(EXE) }, 'web', 'install -Ds "$(cabal list-bin exe:shop)" /out/app'],
    [
      'Cabal, several packages',
      { 'cabal.project': 'packages: a b', 'a/a.cabal': cabal('\nexecutable one\n', 'a'), 'b/b.cabal': cabal('', 'b') },
      'web',
      'install -Ds "$(cabal list-bin exe:one)" /out/app',
    ],
    [
      'the one of the service',
      { 'shop.cabal': cabal('\nexecutable a\n\nexecutable b\n') },
      'b',
      'install -Ds "$(cabal list-bin exe:b)" /out/app',
    ],
    [
      'Stack with hpack',
      {
        'stack.yaml': 'resolver: lts-22.0\n',
        'package.yaml': 'name: shop\nexecutables:\n  shop-exe:\n    main: Main.hs\n',
      },
      'web',
      'install -Ds /out/shop-exe /out/app',
    ],
  ])('%s', (_title, files, service, wanted) => {
    expect(last(files, service)).toBe(wanted);
  });

  test.each<[string, Files, string]>([
    ['the bounds of base', { 'shop.cabal': cabal(EXE) }, 'haskell:9.6'],
    ['tested-with', { 'shop.cabal': cabal(`tested-with: GHC == 9.4.8 || == 9.8.2\n${EXE}`) }, 'haskell:9.8'],
    [
      'with-compiler',
      { 'shop.cabal': cabal(EXE), 'cabal.project': 'packages: .\nwith-compiler: ghc-9.4.7\n' },
      'haskell:9.4',
    ],
    ['the default', { 'shop.cabal': cabal('\nexecutable shop\n  build-depends: base\n') }, 'haskell:9.10'],
  ])('GHC: %s', (_title, files, wanted) => {
    expect(image(files)).toBe(wanted);
  });

  test('several and none', () => {
    expect(refusal({ 'x.cabal': cabal('\nexecutable a\n\nexecutable b\n') }).message).toBe(
      'this Haskell project has several executables: a, b',
    );
    expect(refusal({ 'x.cabal': cabal('\nlibrary\n') }).message).toStartWith('a Haskell project was detected');
  });
});

describe('Clojure', () => {
  test('Leiningen', () => {
    const plan = planOf({ 'project.clj': '(defproject shop "0.1.0" :main shop.core)' });
    expect({
      image: plan.stages[0]?.from,
      build: plan.build[0],
      start: plan.start,
      java: plan.runtime?.env['JAVA_HOME'],
    }).toEqual({
      image: 'clojure:temurin-21-lein',
      build: 'lein uberjar',
      start: ['java', '-jar', 'app.jar'],
      java: '/opt/java/openjdk',
    });
  });

  test('tools.build', () => {
    const plan = planOf({
      'deps.edn': '{:aliases {:build {:ns-default build}}}',
      'build.clj': '(defn uber [_] nil)',
      '.tool-versions': 'java temurin-17.0.9+9\n',
    });
    expect({ image: plan.stages[0]?.from, install: plan.install, build: plan.build[0] }).toEqual({
      image: 'clojure:temurin-17-tools-deps',
      install: ['clojure -P && clojure -P -T:build'],
      build: 'clojure -T:build uber',
    });
  });

  test('without a way to a jar it says what to add', () => {
    expect(refusal({ 'deps.edn': '{} ; :build {', 'build.clj': '(defn uber [_])' }).hint).toStartWith(
      'add a build.clj that makes an uberjar',
    );
  });
});

describe('what all of them obey', () => {
  const apps: [string, Files][] = [
    ['cpp', { 'CMakeLists.txt': 'add_executable(a a.cpp)' }],
    ['zig', { 'build.zig': 'b.addExecutable(.{ .name = "a" });' }],
    ['crystal', { 'shard.yml': 'name: a\ntargets:\n  a:\n    main: a.cr\n' }],
    ['dart', { 'pubspec.yaml': 'name: a\n', 'bin/server.dart': '' }],
    ['swift', { 'Package.swift': '.executableTarget(name: "a")' }],
    ['haskell', { 'a.cabal': 'name: a\n\nexecutable a\n' }],
    ['elixir', { 'mix.exs': '[app: :a, mod: {A, []}]' }],
    ['gleam', { 'gleam.toml': 'name = "a"' }],
    ['clojure', { 'project.clj': '' }],
  ];
  test.each(apps)('%s', (provider, files) => {
    const given = {
      BERTH_INSTALL: 'get-it',
      BERTH_BUILD: 'make it',
      BERTH_START: 'bin/it --port 1',
      BERTH_RUN_APT: 'ffmpeg',
    };
    const plan = planOf(files, { env: given });
    expect({
      provider: plan.provider,
      install: plan.install,
      build: plan.build,
      start: plan.start,
      run: plan.apt.run,
      sees: plan.installEnv,
    }).toEqual({
      provider,
      install: ['get-it'],
      build: ['make it'],
      start: ['bin/it', '--port', '1'],
      run: ['ffmpeg'],
      sees: null,
    });
    const commands = plan.stages[0]?.steps.flatMap((step) => (step.kind === 'run' ? [step.command] : [])) ?? [];
    expect(commands.at(-1)).toStartWith('get-it && make it');
    expect(planOf({ ...files, Procfile: 'web: ./x\n' }).start).toEqual(['./x']);
    expect(planOf(files, { env: { BERTH_OUTPUT: 'site' } }).staticRoot).toBe('site');
  });
});
