import { describe, expect, test } from 'bun:test';
import { nodeRange, pythonRange } from '#engines/builder/versions';
import { nodeApp, planOf, refusal } from './support.ts';

const nodeVersion = (more: Record<string, unknown>, files: Record<string, string> = {}, given = {}): string =>
  planOf(nodeApp(more, files), given).versions[0]?.version ?? '';

describe('Node', () => {
  test.each([
    ['nothing', {}, {}, '24'],
    ['engines with a major', { engines: { node: '22' } }, {}, '22'],
    ['engines with .x', { engines: { node: '22.x' } }, {}, '22'],
    ['engines with a caret', { engines: { node: '^20.5.0' } }, {}, '20'],
    ['engines that the default satisfies', { engines: { node: '>=18' } }, {}, '24'],
    ['engines with an upper bound', { engines: { node: '>=18 <23' } }, {}, '22'],
    ['engines with alternatives', { engines: { node: '18 || 20' } }, {}, '20'],
    ['an old major', { engines: { node: '14.x' } }, {}, '14'],
    ['an odd major', { engines: { node: '21' } }, {}, '21'],
    ['.nvmrc', {}, { '.nvmrc': 'v22.11.0\n' }, '22'],
    ['.nvmrc with an lts name', {}, { '.nvmrc': 'lts/iron' }, '20'],
    ['.nvmrc with lts/*', {}, { '.nvmrc': 'lts/*' }, '24'],
    ['.node-version', {}, { '.node-version': '20.1.0' }, '20'],
    ['.tool-versions', {}, { '.tool-versions': 'ruby 3.3.0\nnodejs 22.2.0 # pinned\n' }, '22'],
    ['mise.toml', {}, { 'mise.toml': '[tools]\nnode = "22"\n' }, '22'],
    ['mise.toml with a number', {}, { 'mise.toml': '[tools]\nnode = 22\n' }, '22'],
    ['mise.toml with a list', {}, { '.mise.toml': '[tools]\nnode = ["22", "20"]\n' }, '22'],
    ['volta', { volta: { node: '20.3.1' } }, {}, '20'],
    ['engines before .nvmrc', { engines: { node: '20' } }, { '.nvmrc': '22' }, '20'],
    ['a wide range, narrowed by .nvmrc', { engines: { node: '>=18' } }, { '.nvmrc': '22' }, '22'],
  ])('%s', (_title, more, files, version) => {
    expect(nodeVersion(more, files)).toBe(version);
  });

  test('an override is taken to the letter', () => {
    expect(nodeVersion({ engines: { node: '20' } }, {}, { env: { BERTH_VERSION: '22.11.0' } })).toBe('22.11.0');
  });

  test('the reason names the file and the line', () => {
    const plan = planOf(nodeApp({ engines: { node: '>=22 <24' } }));
    expect(plan.versions[0]?.reason).toBe('engines.node in package.json:6 says ">=22 <24"');
  });

  test.each([
    ['impossible', '>=99', 'engines.node in package.json:6 asks for Node ">=99", which no known version satisfies'],
    ['no version', 'banana', 'engines.node in package.json:6 asks for Node "banana", which is no version'],
  ])('a version that is %s is refused with its place', (_title, written, message) => {
    const error = refusal(nodeApp({ engines: { node: written } }));
    expect(error.kind).toBe('INVALID_INPUT');
    expect(error.message).toBe(message);
  });
});

describe('what was remembered', () => {
  test('beats a new default', () => {
    expect(nodeVersion({}, {}, { remembered: { node: '22' } })).toBe('22');
  });

  test('stays when the source asks for a range that it satisfies', () => {
    expect(nodeVersion({ engines: { node: '>=18' } }, {}, { remembered: { node: '22' } })).toBe('22');
  });

  test('yields to what the source asks for', () => {
    expect(nodeVersion({ engines: { node: '20' } }, {}, { remembered: { node: '22' } })).toBe('20');
  });

  test('is given back, with the version of the package manager', () => {
    const plan = planOf(nodeApp({ packageManager: 'pnpm@9.15.0' }));
    expect(plan.remember).toEqual({ node: '24', pnpm: '9.15.0' });
  });

  test.each([
    ['bun', { 'bun.lock': '{}' }, { bun: '1.2.0' }, '1.2.0'],
    ['pnpm', { 'pnpm-lock.yaml': "lockfileVersion: '9.0'" }, { pnpm: '10' }, '10'],
    ['pnpm that cannot read the lock file', { 'pnpm-lock.yaml': "lockfileVersion: '9.0'" }, { pnpm: '8' }, '9'],
    ['what is no version', { 'bun.lock': '{}' }, { bun: "1'; evil" }, '1.4.5'],
  ])('holds for the package manager too: %s', (_title, files, remembered, version) => {
    expect(planOf(nodeApp({}, files), { remembered }).packageManager?.version).toBe(version);
  });

  test('is ignored when it is no version', () => {
    expect(nodeVersion({}, {}, { remembered: { node: '24\nRUN evil' } })).toBe('24');
  });
});

describe('Python', () => {
  const version = (files: Record<string, string>): string | undefined =>
    planOf({ 'main.py': '', ...files }).versions[0]?.version;

  test.each([
    ['nothing', {}, '3.13'],
    ['.python-version', { '.python-version': '3.11.4\n' }, '3.11'],
    ['runtime.txt', { 'runtime.txt': 'python-3.12.1' }, '3.12'],
    ['requires-python', { 'pyproject.toml': '[project]\nname="a"\nrequires-python = ">=3.9,<3.12"' }, '3.11'],
    ['requires-python, open', { 'pyproject.toml': '[project]\nname="a"\nrequires-python = ">=3.9"' }, '3.13'],
    [
      'requires-python and .python-version',
      { 'pyproject.toml': '[project]\nname="a"\nrequires-python = ">=3.9"', '.python-version': '3.11' },
      '3.11',
    ],
    ['poetry', { 'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.10"' }, '3.13'],
    ['poetry, exact line', { 'pyproject.toml': '[tool.poetry.dependencies]\npython = "~3.10"' }, '3.10'],
    ['Pipfile', { Pipfile: '[requires]\npython_version = "3.12"\n' }, '3.12'],
    ['.tool-versions', { '.tool-versions': 'python 3.10.2' }, '3.10'],
  ])('%s', (_title, files, wanted) => {
    expect(version(files)).toBe(wanted);
  });

  test('a version that was never released is refused', () => {
    expect(refusal({ 'main.py': '', '.python-version': '2.7' }).message).toContain(
      '.python-version asks for Python "2.7"',
    );
  });
});

test.each([
  ['v22', '22'],
  ['lts/jod', '22'],
  ['LTS/*', '*'],
  ['node', '*'],
  ['latest', '*'],
  ['node-20', '20'],
])('Node calls %s %s', (written, range) => {
  expect(nodeRange(written)).toBe(range);
});

test.each([
  ['>=3.9,<3.13', '>=3.9 <3.13'],
  ['~=3.11', '>=3.11.0 <4.0.0'],
  ['~=3.11.2', '>=3.11.2 <3.12.0'],
  ['==3.12.*', '3.12.x'],
  ['>=3.9, !=3.9.7', '>=3.9'],
  ['python-3.11.4', '3.11.4'],
  ['', '*'],
])('PEP 440 %s is %s', (written, range) => {
  expect(pythonRange(written)).toBe(range);
});
