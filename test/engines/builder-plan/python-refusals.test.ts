import { describe, expect, test } from 'bun:test';
import { FASTAPI } from './python-support.ts';
import { planOf, refusal } from './support.ts';

const project = '[project]\nname = "a"\nversion = "1"\ndependencies = ["fastapi"]\n';

describe('private indexes', () => {
  test('only their variables reach the install', () => {
    const plan = planOf(
      { 'main.py': '', 'requirements.txt': '--index-url https://${INDEX_TOKEN}@pypi.example.com/simple\n' },
      { env: { INDEX_TOKEN: 'a', PIP_TIMEOUT: '9', SECRET: 'x' } },
    );
    expect(plan.installEnv).toEqual(['INDEX_TOKEN', 'PIP_TIMEOUT']);
  });

  test.each([
    [
      'pip',
      { 'requirements.txt': '# \n--extra-index-url https://u:${INDEX_TOKEN}@x.example/simple\n' },
      'requirements.txt:2',
      'INDEX_TOKEN',
    ],
    [
      'git',
      { 'requirements.txt': 'a @ git+https://${GIT_TOKEN}@git.example/a.git\n' },
      'requirements.txt:1',
      'GIT_TOKEN',
    ],
    ['pipenv', { Pipfile: '[[source]]\nname = "x"\nurl = "https://u:$PASS@x.example/simple"\n' }, 'Pipfile:3', 'PASS'],
    [
      'pdm',
      {
        'pyproject.toml': `${project}[[tool.pdm.source]]\nurl = "https://\${PASS}@x.example/simple"\n`,
        'pdm.lock': '',
      },
      'pyproject.toml:6',
      'PASS',
    ],
    [
      'uv',
      {
        'pyproject.toml': `${project}[[tool.uv.index]]\nname = "my-own"\nurl = "https://x.example/simple"\nauthenticate = "always"\n`,
        'uv.lock': '',
      },
      'pyproject.toml:6',
      'UV_INDEX_MY_OWN_USERNAME',
    ],
  ])('%s: a variable that the project does not have ends it before the build', (_title, files, place, name) => {
    const error = refusal({ 'main.py': '', ...files });
    expect({ kind: error.kind, message: error.message, hint: error.hint }).toEqual({
      kind: 'INVALID_INPUT',
      message: `${place} reads the variable ${name} to install packages, and the project does not have it`,
      hint: `set it, then deploy again: berth env set ${name}=<value>`,
    });
  });

  test('poetry: the variable of an index is named', () => {
    const plan = planOf({
      'main.py': '',
      'pyproject.toml':
        '[tool.poetry.dependencies]\na = "*"\n[[tool.poetry.source]]\nname = "own"\nurl = "https://x.example/simple"\n',
    });
    expect(plan.decisions).toContain(
      'packages come from the index in pyproject.toml:4 too: when it is private, set POETRY_HTTP_BASIC_OWN_USERNAME and its password',
    );
  });

  test('a requirement by SSH is refused with the way that works', () => {
    const error = refusal({ 'main.py': '', 'requirements.txt': 'flask\na @ git+ssh://git@git.example/a.git\n' });
    expect(error.message).toBe('requirements.txt:2 is fetched by SSH, and builds have no key');
  });
});

describe('what cannot be installed', () => {
  test.each([
    ['broken TOML', { 'pyproject.toml': '[project]\nname = \n' }, 'pyproject.toml:2:'],
    ['a broken Pipfile', { Pipfile: '[packages\n' }, 'Pipfile:1:'],
    ['a broken lock file', { Pipfile: '', 'Pipfile.lock': '{\n"default": {\n' }, 'Pipfile.lock:3:'],
    ['a missing include', { 'requirements.txt': 'flask\n-r base.txt\n' }, 'requirements.txt:2 includes "base.txt"'],
    [
      'a package outside of the source',
      { 'requirements.txt': '-e ../lib\n' },
      'requirements.txt:1 needs the package in "../lib"',
    ],
    [
      'a folder that is no package',
      { 'requirements.txt': './lib\n', 'lib/a.py': '' },
      'requirements.txt:1 needs the package in "./lib"',
    ],
    [
      'an impossible version',
      { 'pyproject.toml': '[project]\nrequires-python = ">=4"\n' },
      'requires-python in pyproject.toml:2 asks for Python ">=4"',
    ],
    ['no version at all', { '.python-version': 'pypy3.10\n' }, '.python-version asks for Python "pypy3.10"'],
    [
      'no manifest for a framework',
      { 'main.py': FASTAPI },
      'main.py imports fastapi, and no manifest says what to install',
    ],
  ])('%s', (_title, files, start) => {
    expect(refusal({ 'main.py': '', ...files }).message).toStartWith(start);
  });
});

describe('the version of Python', () => {
  test.each([
    ['requires-python', { 'pyproject.toml': '[project]\nrequires-python = ">=3.10,<3.13"\n' }, '3.12'],
    ['an excluded line', { 'pyproject.toml': '[project]\nrequires-python = ">=3.10,!=3.13.*,!=3.14.*"\n' }, '3.12'],
    [
      'requires-python and .python-version',
      { 'pyproject.toml': '[project]\nrequires-python = ">=3.10"\n', '.python-version': '3.11\n' },
      '3.11',
    ],
    ['poetry', { 'pyproject.toml': '[tool.poetry.dependencies]\npython = "~3.11"\n' }, '3.11'],
    ['python_full_version', { Pipfile: '[requires]\npython_full_version = "3.11.4"\n' }, '3.11'],
    ['python_version', { Pipfile: '[requires]\npython_version = "3.12"\n' }, '3.12'],
    ['runtime.txt', { 'runtime.txt': 'python-3.12.7\n' }, '3.12'],
    ['the first of several lines', { '.python-version': '# ours\n\n3.12.1\n3.11.8\n' }, '3.12'],
    ['what uv writes', { '.python-version': 'cpython-3.12.4-linux-x86_64-gnu\n' }, '3.12'],
    ['.tool-versions', { '.tool-versions': 'nodejs 20\npython 3.11.2 3.10.1\n' }, '3.11'],
    ['nothing', {}, '3.13'],
  ])('%s', (_title, files, version) => {
    expect(planOf({ 'main.py': '', ...files }).versions[0]?.version).toBe(version);
  });
});
