import { describe, expect, test } from 'bun:test';
import { OVERRIDE_KEYS } from '#engines/builder/overrides';
import { type Files, nodeApp, planOf, refusal } from './support.ts';

const withToml = (text: string, more: Files = {}): Files => nodeApp({}, { 'berth.toml': text, ...more });

describe('berth.toml', () => {
  test('every key has its effect', () => {
    const plan = planOf(
      withToml(`[build]
version = "22"
install = "npm install --legacy-peer-deps"
build = ["npm run css", "npm run js"]
start = ["node", "other.js", "a b"]
release = "node migrate.js"
apt = ["libpq5"]
build_apt = ["git"]
run_apt = ["curl"]
`),
    );
    expect(plan).toMatchObject({
      versions: [{ version: '22', reason: '[build] version says so' }],
      install: ['npm install --legacy-peer-deps'],
      build: ['npm run css', 'npm run js'],
      start: ['node', 'other.js', 'a b'],
      releaseCommand: ['node', 'migrate.js'],
      apt: { build: ['git', 'libpq5'], run: ['curl', 'libpq5'] },
    });
  });

  test('output makes a site of any build, spa its fallback', () => {
    const plan = planOf(withToml('[build]\nbuild = "make"\noutput = "./public_html/"\nspa = true\n'));
    expect({
      root: plan.staticRoot,
      fallback: plan.files.some((file) => file.content.includes('/index.html"')),
    }).toEqual({ root: 'public_html', fallback: true });
  });

  test('an empty command means none', () => {
    expect(
      planOf(nodeApp({ scripts: { start: 'node a.js', build: 'tsc' } }, { 'berth.toml': '[build]\nbuild = ""\n' }))
        .build,
    ).toEqual([]);
  });

  test("a service's own table beats the common one", () => {
    const files = withToml('[build]\nversion = "22"\n[services.api.build]\nversion = "20"\n');
    expect(planOf(files, { service: 'api' }).versions[0]?.version).toBe('20');
    expect(planOf(files, { service: 'web' }).versions[0]?.version).toBe('22');
  });

  test('tables of other parts are left alone', () => {
    expect(planOf(withToml('project = "shop"\n[deploy]\nreplicas = 2\n')).provider).toBe('node');
  });

  test.each([
    [
      'an unknown key',
      '[build]\nstrat = "x"\n',
      'berth.toml:2: [build] has no key "strat"',
      `did you mean start? valid keys: ${Object.keys(OVERRIDE_KEYS).join(', ')}`,
    ],
    [
      'an unknown key without a near one',
      '[build]\n\nsidecars = 1\n',
      'berth.toml:3: [build] has no key "sidecars"',
      `valid keys: ${Object.keys(OVERRIDE_KEYS).join(', ')}`,
    ],
    [
      'a key of the prototype',
      '[build]\nconstructor = 1\n',
      'berth.toml:2: [build] has no key "constructor"',
      `valid keys: ${Object.keys(OVERRIDE_KEYS).join(', ')}`,
    ],
    ['a misspelt table', '[biuld]\nstart = "x"\n', 'berth.toml:1: no table is called [biuld]', 'did you mean [build]?'],
    [
      'a value of the wrong kind',
      '[build]\nstart = 3\n',
      'start in berth.toml:2 has a value of the wrong kind',
      'give a command line as a string, or a list of words',
    ],
    [
      'an empty start',
      '[build]\nstart = " "\n',
      'start in berth.toml:2 has a value of the wrong kind',
      'give a command line as a string, or a list of words',
    ],
    [
      'a package that is none',
      '[build]\napt = ["git; curl evil"]\n',
      'apt in berth.toml:2 has a value of the wrong kind',
      'give a list of Debian package names',
    ],
    [
      'a flag for a package',
      '[build]\napt = ["-oAPT::x=y"]\n',
      'apt in berth.toml:2 has a value of the wrong kind',
      'give a list of Debian package names',
    ],
    [
      'build that is no table',
      'build = "x"\n',
      'berth.toml: build must be a table',
      'write [build] on a line of its own',
    ],
  ])('%s is refused with its place', (_title, text, message, hint) => {
    const error = refusal(withToml(text));
    expect({ kind: error.kind, message: error.message, hint: error.hint }).toEqual({
      kind: 'INVALID_INPUT',
      message,
      hint,
    });
  });

  test('broken TOML fails with its place', () => {
    expect(refusal(withToml('[build\n')).message).toStartWith('berth.toml:1: ');
  });
});

describe('project variables', () => {
  test.each([
    ['BERTH_START', 'node x.js', { start: ['node', 'x.js'] }],
    ['BERTH_BUILD', 'make', { build: ['make'] }],
    ['BERTH_INSTALL', 'make deps', { install: ['make deps'] }],
    ['BERTH_RELEASE', 'make migrate', { releaseCommand: ['make', 'migrate'] }],
    ['BERTH_APT', 'git, curl', { apt: { build: ['curl', 'git'], run: ['curl', 'git'] } }],
    ['BERTH_RUN_APT', 'curl', { apt: { build: [], run: ['curl'] } }],
    ['BERTH_OUTPUT', 'out', { staticRoot: 'out' }],
    ['BERTH_PROVIDER', 'static', { provider: 'static' }],
  ])('%s', (name, value, wanted) => {
    expect(
      planOf(nodeApp({ scripts: { start: 'node server.js', build: 'tsc' } }), { env: { [name]: value } }),
    ).toMatchObject(wanted);
  });

  test('they beat berth.toml', () => {
    expect(planOf(withToml('[build]\nstart = "node a.js"\n'), { env: { BERTH_START: 'node b.js' } }).start).toEqual([
      'node',
      'b.js',
    ]);
  });

  test.each([
    ['BERTH_APT', '$(id)'],
    ['BERTH_SPA', 'perhaps'],
    ['BERTH_START', ''],
    ['BERTH_START', 'node \0 a'],
  ])('%s=%j is refused', (name, value) => {
    expect(refusal(nodeApp(), { env: { [name]: value } }).kind).toBe('INVALID_INPUT');
  });
});

describe('Procfile', () => {
  test('comments and other processes are left alone', () => {
    expect(
      planOf(nodeApp({}, { Procfile: '# ours\n\nweb : node w.js --port $PORT\nworker: node q.js\n' })).start,
    ).toEqual(['/bin/sh', '-c', 'exec node w.js --port $PORT']);
  });

  test('a line that is none fails with its place', () => {
    expect(refusal(nodeApp({}, { Procfile: 'web: node a\nnonsense\n' })).message).toBe(
      'Procfile:2: expected a line such as "web: npm start"',
    );
  });
});
