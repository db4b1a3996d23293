import { describe, expect, test } from 'bun:test';
import { planBuild } from '#engines/builder/detect';
import { PROVIDERS } from '#engines/builder/providers/index';
import { type Files, nodeApp, packageJson, planOf, refusal, treeOf } from './support.ts';

const START = { scripts: { start: 'node a.js' } };

describe('which provider', () => {
  test.each([
    ['a Dockerfile wins over everything', nodeApp({}, { Dockerfile: 'FROM scratch', 'go.mod': '' }), 'dockerfile'],
    ['Node over a page beside it', nodeApp({}, { 'index.html': '' }), 'node'],
    [
      'a page over a package.json for tooling',
      { 'package.json': packageJson({ devDependencies: { prettier: '3' } }), 'index.html': '' },
      'static',
    ],
    [
      'Django over a package.json for its assets',
      {
        'package.json': packageJson({ devDependencies: { tailwindcss: '3' } }),
        'requirements.txt': 'django',
        'manage.py': '',
        'a/wsgi.py': '',
      },
      'python',
    ],
    ['Go', { 'go.mod': 'module a', 'main.go': 'package main' }, 'go'],
    ['Rust', { 'Cargo.toml': '[package]\nname = "a"', 'src/main.rs': '' }, 'rust'],
    ['index.html', { 'index.html': '' }, 'static'],
    ['public/index.html', { 'public/index.html': '' }, 'static'],
    ['Staticfile', { Staticfile: 'root: out\n', 'out/a.html': '' }, 'static'],
    ['start.sh', { 'start.sh': '#!/bin/bash\n' }, 'shell'],
    ['a Procfile alone', { Procfile: 'web: ./run' }, 'shell'],
  ])('%s', (_title, files, provider) => {
    expect(planOf(files).provider).toBe(provider);
  });

  test('a marker inside a folder is none', () => {
    expect(refusal({ 'vendor/composer/index.html': '', 'lib/x.c': '' }).kind).toBe('NO_PROVIDER_DETECTED');
  });

  test('the others that would fit are named', () => {
    expect(planOf(nodeApp({}, { 'go.mod': 'module a', 'main.go': '' })).warnings).toContain(
      'this looks like go too: set provider in the [build] table of berth.toml if node is wrong',
    );
  });

  test('[build] provider decides', () => {
    expect(planOf(nodeApp({}, { 'index.html': '', 'berth.toml': '[build]\nprovider = "static"\n' })).provider).toBe(
      'static',
    );
    expect(refusal({ 'a.x': '', 'berth.toml': '[build]\nprovider = "cobol"\n' }).message).toBe(
      'there is no provider called "cobol"',
    );
  });
});

describe('nothing to build', () => {
  test('the error lists what was seen and looked for, and the ways out', () => {
    const error = refusal({ 'notes.txt': '', 'src/a.c': '' });
    expect(error.toBody()).toEqual({
      code: 'NO_PROVIDER_DETECTED',
      message: 'nothing in the source says how to build it',
      hint: `add a Dockerfile at the source root, or set provider and start in the [build] table of berth.toml. seen: notes.txt, src/. Looked for: ${[...new Set(PROVIDERS.flatMap(({ markers }) => markers))].join(', ')}`,
      retryable: false,
    });
  });

  test.each([
    [
      'a manifest one folder down',
      { 'app/package.json': '{}', 'README.md': '' },
      'app/package.json is one folder down: set root = "app"',
    ],
    ['requirement.txt', { 'requirement.txt': '' }, 'did you mean requirements.txt instead of requirement.txt?'],
    ['requirements.text', { 'requirements.text': '' }, 'did you mean requirements.txt instead of requirements.text?'],
    ['dockerfile', { dockerfile: '' }, 'did you mean Dockerfile instead of dockerfile?'],
    ['Dockerfile.txt', { 'Dockerfile.txt': '' }, 'did you mean Dockerfile instead of Dockerfile.txt?'],
    ['pakage.json', { 'pakage.json': '' }, 'did you mean package.json instead of pakage.json?'],
    ['cargo.toml', { 'cargo.toml': '' }, 'did you mean Cargo.toml instead of cargo.toml?'],
    ['an empty source', {}, 'the source is empty'],
  ])('%s', (_title, files, hint) => {
    const error = refusal(files);
    expect(error.kind).toBe('NO_PROVIDER_DETECTED');
    expect(error.hint).toContain(hint);
  });

  test('names with control characters come out escaped', () => {
    expect(refusal({ 'a\n"b': '' }).hint).toContain(String.raw`a\n\"b`);
  });
});

describe('root', () => {
  test('picks the folder of the app', () => {
    const plan = planOf({
      'a/package.json': packageJson(START),
      'b/main.py': '',
      'berth.toml': '[build]\nroot = "./b/"\n',
    });
    expect({ provider: plan.provider, root: plan.root }).toEqual({ provider: 'python', root: 'b' });
  });

  test.each(['nope', '../up', '/etc', 'a/../../b'])('%s is refused with what is there', (root) => {
    const error = refusal({ 'a/package.json': '{}' }, { env: { BERTH_ROOT: root } });
    expect({ kind: error.kind, hint: error.hint }).toEqual({ kind: 'INVALID_INPUT', hint: 'folders there: a/' });
  });

  test('a folder whose name cannot be used in a build is refused', () => {
    expect(refusal({ 'a b$(id)/main.py': '' }, { env: { BERTH_ROOT: 'a b$(id)' } }).message).toStartWith(
      'the path "a b$(id)" cannot be used',
    );
  });
});

describe('a source with apps in its folders', () => {
  const files: Files = {
    'README.md': '',
    'apps/api/package.json': packageJson(START),
    'apps/api/a.js': '',
    'apps/web/index.html': '',
    'libs/util/package.json': packageJson({ name: 'util' }),
    'services/jobs/go.mod': 'module jobs\n\ngo 1.24\n',
    'services/jobs/main.go': 'package main\n',
    'tests/tool/package.json': packageJson(START),
  };

  test('several and no root are an error that lists them with what would build them', () => {
    expect(refusal(files, { service: 'shop' })).toMatchObject({
      kind: 'INVALID_INPUT',
      message:
        'there is no app at the root of the source, but there are several below: apps/api (node), apps/web (static), services/jobs (go)',
      hint: 'set root to the folder of one of them in the [build] table of berth.toml (or [services.<name>.build]); or name the service after its folder',
    });
  });

  test.each([
    ['api', 'node', 'apps/api'],
    ['web', 'static', 'apps/web'],
    ['jobs', 'go', 'services/jobs'],
  ])('the one with the name of the service is taken: %s', (service, provider, root) => {
    const plan = planOf(files, { service });
    expect({ provider: plan.provider, root: plan.root }).toEqual({ provider, root });
    expect(plan.decisions[0]).toBe(`app ${root}: its folder has the name of the service`);
  });

  test('a package.json for tooling at the root does not hide them', () => {
    const tooling = { ...files, 'package.json': packageJson({ devDependencies: { prettier: '3' } }) };
    expect(refusal(tooling, { service: 'shop' }).message).toContain('apps/api (node)');
    expect(planOf(tooling, { service: 'api' }).root).toBe('apps/api');
  });

  test('an app at the root is taken whatever lies below', () => {
    expect(planOf({ ...files, 'main.py': '' }, { service: 'api' }).provider).toBe('python');
  });

  test('a manifest that cannot be read is listed, and named when its folder is chosen', () => {
    const broken = { ...files, 'apps/old/package.json': '{' };
    expect(refusal(broken, { service: 'shop' }).message).toContain('apps/old (');
    expect(refusal(broken, { service: 'old' }).message).toStartWith('apps/old/package.json:1');
  });

  test('a root that is named is not looked below', () => {
    expect(refusal(files, { env: { BERTH_ROOT: 'apps' } }).kind).toBe('NO_PROVIDER_DETECTED');
    expect(refusal(files, { env: { BERTH_ROOT: 'apps' } }).hint).toStartWith(
      'api/package.json is one folder down: set root = "apps/api"',
    );
  });

  test('a single one is pointed at, wherever it is', () => {
    expect(refusal({ 'a/b/c/main.py': '', 'README.md': '' }).hint).toStartWith(
      'a/b/c/main.py lies below: set root = "a/b/c" in the [build] table of berth.toml',
    );
  });
});

describe('large sources', () => {
  const files: Files = nodeApp({ scripts: { build: 'tsc', start: 'node dist/a.js' }, dependencies: { next: '15' } });
  for (let index = 0; index < 20_000; index += 1) files[`src/folder-${index % 200}/file-${index}.ts`] = '';
  const tree = treeOf(files);
  const options = { projectEnv: {}, remembered: {}, serviceName: 'web' };

  test('20,000 files are planned in less than 200 ms', () => {
    const started = performance.now();
    planBuild(tree, options);
    expect(performance.now() - started).toBeLessThan(200);
  });

  test('the same source gives the same plan', () => {
    expect(planBuild(tree, options)).toEqual(planBuild(tree, options));
  });

  test('a plan survives JSON', () => {
    const plan = planBuild(tree, options);
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });

  test('a source of Python files only is planned in time too', () => {
    const python: Files = { 'requirements.txt': 'fastapi', 'main.py': 'print(1)' };
    for (let index = 0; index < 20_000; index += 1)
      python[`pkg/folder${index % 200}/file${index}.py`] = 'x = 1\n'.repeat(20);
    const started = performance.now();
    planBuild(treeOf(python), options);
    expect(performance.now() - started).toBeLessThan(200);
  });
});
