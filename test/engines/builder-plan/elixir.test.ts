import { describe, expect, test } from 'bun:test';
import { type Files, dockerfileOf, planOf, refusal } from './support.ts';

const mix = (inside = '', rest = ''): string => `defmodule Shop.MixProject do
  use Mix.Project

  def project do
    [
      app: :shop, # the app
      version: "0.1.0",
      ${inside}
      deps: deps()
    ]
  end

  def application, do: [mod: {Shop.Application, []}, extra_applications: [:logger]]
  ${rest}
end
`;
const DEPS = 'defp deps, do: [{:phoenix, "~> 1.8"}, {:bandit, "~> 1.5"}]';
const app = (inside = '', rest = '', files: Files = {}): Files => ({
  'mix.exs': mix(inside, rest),
  'mix.lock': '%{}',
  ...files,
});
const release = (files: Files, service = 'web'): string | undefined =>
  /^\/app\/bin\/(.*)$/.exec(planOf(files, { service }).start[0] ?? '')?.[1];

describe('the release', () => {
  test.each<[string, Files, string, string]>([
    ['of the app', app(), 'web', 'shop'],
    ['the only one', app('releases: [store: [include_executables_for: [:unix]]],'), 'web', 'store'],
    [
      'the one with the name of the service',
      app('releases: [a: [applications: [x: :permanent]], worker: []],'),
      'worker',
      'worker',
    ],
    ['the one with the name of the app', app('releases: [a: [], shop: []],'), 'web', 'shop'],
    [
      'of a function',
      app('releases: releases(),', 'defp releases do\n  [\n    store: [\n      steps: [:assemble]\n    ]\n  ]\nend'),
      'web',
      'store',
    ],
    ['not in a comment', app('# releases: [b: []],\n releases: [store: []],'), 'web', 'store'],
    [
      'of an umbrella',
      {
        'mix.exs': 'def project do\n [apps_path: "apps", releases: [all: [applications: [a: :permanent]]]]\nend',
        'mix.lock': '',
        'apps/a/mix.exs': mix(),
      },
      'web',
      'all',
    ],
  ])('%s', (_title, files, service, wanted) => {
    expect(release(files, service)).toBe(wanted);
  });

  test('is asked for by name only when mix.exs defines it', () => {
    expect(planOf(app()).build.at(-1)).toBe('mix release --overwrite --path /out/release');
    expect(planOf(app('releases: [store: []],')).build.at(-1)).toBe(
      'mix release store --overwrite --path /out/release',
    );
  });

  test('several and no choice are an error that lists them', () => {
    expect(refusal(app('releases: [a: [], b: []],')).message).toBe('mix.exs has several releases: a, b');
  });

  test('an umbrella without one says what to add', () => {
    expect(refusal({ 'mix.exs': 'def project, do: [apps_path: "apps"]' }).hint).toStartWith('add releases: [web:');
  });

  test('a library cannot be started', () => {
    expect(refusal({ 'mix.exs': 'def project, do: [app: :shop]' }).message).toStartWith(
      'an Elixir project was detected, but it has no start command',
    );
  });
});

describe('versions', () => {
  const from = (files: Files): string | undefined => planOf(files).stages[0]?.from;
  test.each<[string, Files, string]>([
    ['the default', app(), 'elixir:1.19'],
    ['a requirement that the default meets', app('elixir: "~> 1.15",'), 'elixir:1.19'],
    ['one that it does not', app('elixir: "~> 1.17.0",'), 'elixir:1.17'],
    ['two of them', app('elixir: ">= 1.14.0 and < 1.18.0",'), 'elixir:1.17'],
    [
      'a version file narrows it',
      app('elixir: "~> 1.15",', '', { '.tool-versions': 'erlang 27.2\nelixir 1.18.1-otp-27\n' }),
      'elixir:1.18-otp-27',
    ],
    ['OTP of the version of Elixir', app('', '', { '.tool-versions': 'elixir 1.18.1-otp-26\n' }), 'elixir:1.18-otp-26'],
    ['.elixir-version', app('', '', { '.elixir-version': '1.17.3' }), 'elixir:1.17'],
  ])('%s', (_title, files, image) => {
    expect(from(files)).toBe(image);
  });

  test('one that nobody has is refused with its place', () => {
    expect(refusal(app('elixir: "~> 2.0",')).message).toBe(
      'elixir in mix.exs:8 asks for Elixir "~> 2.0", which no known version satisfies',
    );
  });
});

describe('Phoenix', () => {
  const phoenix = (files: Files = {}): Files =>
    app(
      'aliases: aliases(),',
      `${DEPS}\n  defp aliases, do: ["assets.setup": ["tailwind.install --if-missing"], "assets.deploy": ["tailwind shop --minify", "phx.digest"]]`,
      { 'config/config.exs': '', 'config/prod.exs': '', 'config/dev.exs': '', 'config/runtime.exs': RUNTIME, ...files },
    );
  const RUNTIME = `import Config
secret = System.get_env("SECRET_KEY_BASE") || raise "missing"
url = System.get_env("DATABASE_URL") ||
  raise """
  missing
  """
# System.fetch_env!("NOPE")
System.fetch_env!("MAIL_KEY")
host = System.get_env("PHX_HOST") || "example.com"
`;

  test('is recognised, built with its assets, and told to serve', () => {
    const plan = planOf(phoenix());
    expect({
      framework: plan.framework,
      build: plan.build,
      setup: plan.install.at(-1),
      serve: plan.runtime?.env['PHX_SERVER'],
      start: plan.start,
    }).toEqual({
      framework: 'Phoenix',
      build: ['mix compile', 'mix assets.deploy', 'mix release --overwrite --path /out/release'],
      setup: 'mix assets.setup',
      serve: 'true',
      start: ['/app/bin/shop', 'start'],
    });
  });

  test('the variables that it insists on are named', () => {
    expect(planOf(phoenix(), { env: { DATABASE_URL: 'x' } }).warnings).toEqual([
      'config/runtime.exs needs SECRET_KEY_BASE, MAIL_KEY at run time: set them as variables (mix phx.gen.secret makes a SECRET_KEY_BASE)',
      'PHX_HOST is not set: until it is the domain of the app, Phoenix makes wrong links and refuses websockets',
    ]);
  });

  test('settings for run time and development do not install anew', () => {
    expect(planOf(phoenix()).files.map(({ path }) => path)).toEqual([
      'berth/manifests/config/config.exs',
      'berth/manifests/config/prod.exs',
    ]);
  });

  test('npm of assets/ is run with Node', () => {
    const plan = planOf(phoenix({ 'assets/package.json': '{}', 'assets/package-lock.json': '{}' }));
    expect(plan.install.at(-1)).toBe('npm ci --prefix assets --no-audit --no-fund');
    expect(plan.stages[0]?.steps[0]).toMatchObject({ from: 'node:24-slim' });
  });

  test('the assets of an app of an umbrella', () => {
    const plan = planOf({
      'mix.exs': 'def project, do: [apps_path: "apps", releases: [all: []]]',
      'apps/web/mix.exs': mix('', `${DEPS}\n  defp aliases, do: ["assets.deploy": []]`),
    });
    expect({ framework: plan.framework, build: plan.build[1] }).toEqual({
      framework: 'Phoenix',
      build: '(cd apps/web && mix assets.deploy)',
    });
  });
});

test('without mix.lock it warns', () => {
  expect(planOf({ 'mix.exs': mix('', DEPS) }).warnings).toEqual([
    'there is no mix.lock: versions may change from build to build; commit it',
  ]);
});

test('an app without dependencies fetches nothing, not even the tool that would', () => {
  const { install, build, warnings } = planOf({ 'mix.exs': mix() });
  expect({ install, build, warnings }).toEqual({
    install: [],
    build: ['mix compile', 'mix release --overwrite --path /out/release'],
    warnings: [],
  });
});

test('what mix.lock holds is fetched, however mix.exs names it', () => {
  expect(planOf(app('', '', { 'mix.lock': '%{\n  "plug": {:hex, :plug, "1.18.0", "…"},\n}' })).install).toContain(
    'mix deps.compile',
  );
});

test('a dependency in the source is there when it is fetched', () => {
  const plan = planOf(app('', 'defp deps, do: [{:x, path: "libs/x"}]'));
  expect({ install: plan.install, first: plan.build[0] }).toEqual({ install: [], first: 'mix local.hex --force' });
});

test('keys of Hex are seen by the install', () => {
  expect(planOf(app('', DEPS), { env: { HEX_REPOS_KEY: 'x', OTHER: 'y' } }).installEnv).toEqual(['HEX_REPOS_KEY']);
});

test('the Dockerfile', () => {
  const text = dockerfileOf(app('', DEPS));
  expect(text.split('\n').map((line) => line.replace(/ && mkdir -p \/out\/lib .*$/, ' …'))).toEqual(
    `FROM elixir:1.19 AS build
WORKDIR /app
ENV LANG=C.UTF-8 MIX_ENV=prod
COPY source/mix.exs source/mix.lock ./
RUN --mount=type=cache,id=berth-shop-web-hex,target=/root/.hex mix local.hex --force && mix local.rebar --force && { mix deps.get --only prod --check-locked || { echo 'WARNING: mix.lock does not match mix.exs: other versions may be installed; run mix deps.get and commit it' >&2; mix deps.get --only prod; }; } && mix deps.compile
COPY source/ ./
RUN --mount=type=cache,id=berth-shop-web-hex,target=/root/.hex --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && mix compile && mix release --overwrite --path /out/release …

FROM debian:trixie-slim AS runtime
RUN useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
WORKDIR /app
COPY --from=build /out/lib/ /usr/local/lib/
RUN ldconfig
COPY --from=build --chown=1000:1000 /out/release/ ./
ENV HOST=0.0.0.0 HOSTNAME=0.0.0.0 LANG=C.UTF-8 MIX_ENV=prod PHX_SERVER=true PORT=8080
USER app
EXPOSE 8080
CMD ["/app/bin/shop","start"]
`.split('\n'),
  );
});
