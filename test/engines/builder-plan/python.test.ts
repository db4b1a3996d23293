import { describe, expect, test } from 'bun:test';
import { type Files, planOf, refusal } from './support.ts';

const needs = (...names: string[]): Files => ({ 'requirements.txt': `${names.join('\n')}\n` });
const uvicorn = (target: string, flags = ''): string[] => [
  '/bin/sh',
  '-c',
  `exec uvicorn ${target} --host 0.0.0.0 --port "\${PORT:-8080}"${flags}`,
];
const FASTAPI = 'from fastapi import FastAPI\napp = FastAPI()\n';

describe('how an app starts', () => {
  test.each([
    ['FastAPI', { ...needs('fastapi'), 'main.py': FASTAPI }, 'FastAPI', uvicorn('main:app')],
    [
      'FastAPI in app.py under another name',
      { ...needs('fastapi'), 'app.py': 'import fastapi\napi: fastapi.FastAPI = fastapi.FastAPI(\n  title="x",\n)' },
      'FastAPI',
      uvicorn('app:api'),
    ],
    [
      'FastAPI in a package',
      { ...needs('fastapi[standard]'), 'app/__init__.py': '', 'app/main.py': FASTAPI },
      'FastAPI',
      uvicorn('app.main:app'),
    ],
    [
      'FastAPI in src',
      { ...needs('fastapi'), 'src/main.py': FASTAPI },
      'FastAPI',
      uvicorn('main:app', ' --app-dir src'),
    ],
    [
      'a FastAPI factory',
      { ...needs('fastapi'), 'main.py': 'def create_app():\n    app = FastAPI()\n    return app\n' },
      'FastAPI',
      uvicorn('main:create_app', ' --factory'),
    ],
    [
      'FastAPI in a comment and a string only',
      {
        ...needs('fastapi', 'flask'),
        'main.py': '# app = FastAPI()\ntext = """\napp = FastAPI()\n"""\n',
        'app.py': 'app = Flask(__name__)',
      },
      'Flask',
      ['gunicorn', 'app:app'],
    ],
    ['Starlette', { ...needs('starlette'), 'main.py': 'app = Starlette(routes=[])' }, 'Starlette', uvicorn('main:app')],
    ['Litestar', { ...needs('litestar'), 'app.py': 'app = Litestar([])' }, 'Litestar', uvicorn('app:app')],
    ['Quart', { ...needs('quart'), 'app.py': 'app = Quart(__name__)' }, 'Quart', uvicorn('app:app')],
    ['Flask', { ...needs('Flask==3.0.0'), 'app.py': 'app = Flask(__name__)' }, 'Flask', ['gunicorn', 'app:app']],
    [
      'a Flask factory',
      { ...needs('flask'), 'shop/__init__.py': 'def create_app(config=None):\n  app = Flask(__name__)\n  return app' },
      'Flask',
      ['gunicorn', 'shop:create_app()'],
    ],
    [
      'Flask in wsgi.py',
      { ...needs('flask'), 'wsgi.py': 'application = Flask(__name__)' },
      'Flask',
      ['gunicorn', 'wsgi:application'],
    ],
    ['Dash', { ...needs('dash'), 'app.py': 'app = Dash(__name__)' }, 'Dash', ['gunicorn', 'app:app.server']],
    [
      'Django',
      {
        ...needs('django'),
        'manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")',
        'shop/wsgi.py': '',
      },
      'Django',
      ['gunicorn', 'shop.wsgi:application'],
    ],
    [
      'Django with settings in a folder',
      {
        ...needs('django'),
        'manage.py': "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'config.settings.dev')",
        'config/wsgi.py': '',
        'other/wsgi.py': '',
      },
      'Django',
      ['gunicorn', 'config.wsgi:application'],
    ],
    [
      'Django with channels',
      { ...needs('django', 'channels'), 'manage.py': '', 'shop/asgi.py': '', 'shop/wsgi.py': '' },
      'Django (ASGI)',
      uvicorn('shop.asgi:application'),
    ],
    [
      'Streamlit',
      { ...needs('streamlit'), 'app.py': '' },
      'Streamlit',
      [
        '/bin/sh',
        '-c',
        'exec streamlit run app.py --server.port "${PORT:-8080}" --server.address 0.0.0.0 --server.headless true --browser.gatherUsageStats false',
      ],
    ],
    [
      'Gradio',
      { ...needs('gradio'), 'app.py': '' },
      'Gradio',
      [
        '/bin/sh',
        '-c',
        'GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT="${PORT:-8080}" GRADIO_ANALYTICS_ENABLED=False exec python app.py',
      ],
    ],
    [
      'a script called serve',
      {
        'pyproject.toml':
          '[project]\nname="a"\n[project.scripts]\nserve = "a:main"\nother = "a:b"\n[build-system]\nrequires=["hatchling"]',
      },
      null,
      ['serve'],
    ],
    [
      'the only script',
      {
        'pyproject.toml':
          '[project]\nname="a"\n[project.scripts]\na = "a:main"\n[build-system]\nrequires=["hatchling"]',
      },
      null,
      ['a'],
    ],
    ['main.py', { 'main.py': '' }, null, ['python', 'main.py']],
    ['server.py without manifests', { 'server.py': '' }, null, ['python', 'server.py']],
    [
      'flask in a comment of the requirements',
      { 'requirements.txt': '# flask\nrequests\n', 'app.py': 'app = Flask(__name__)' },
      null,
      ['python', 'app.py'],
    ],
  ])('%s', (_title, files, framework, start) => {
    const plan = planOf(files);
    expect({ framework: plan.framework, start: plan.start }).toEqual({ framework, start });
  });

  test('a Procfile beats what was found, and its release command is kept', () => {
    const plan = planOf({
      ...needs('django', 'gunicorn'),
      'manage.py': '',
      'shop/wsgi.py': '',
      Procfile: 'web: gunicorn shop.wsgi\nrelease: python manage.py migrate\n',
    });
    expect({ start: plan.start, release: plan.releaseCommand }).toEqual({
      start: ['gunicorn', 'shop.wsgi'],
      release: ['python', 'manage.py', 'migrate'],
    });
  });

  test('without any start it says just that', () => {
    const error = refusal(needs('requests'));
    expect(error.message).toStartWith('a Python app was detected, but it has no start command');
    expect(error.kind).toBe('NO_PROVIDER_DETECTED');
  });

  test('a module name that is no identifier never reaches a command', () => {
    expect(planOf({ ...needs('fastapi'), 'a;b/main.py': FASTAPI, 'main.py': '' }).start).toEqual(['python', 'main.py']);
  });
});

describe('how it is installed', () => {
  const project = '[project]\nname = "a"\nversion = "1"\ndependencies = ["fastapi"]\n';
  test.each([
    [
      'pip',
      { ...needs('fastapi', 'uvicorn') },
      'pip',
      ['pip install --root-user-action=ignore --disable-pip-version-check -r requirements.txt'],
    ],
    [
      'pip, with the server that is missing',
      needs('fastapi'),
      'pip',
      ['pip install --root-user-action=ignore --disable-pip-version-check -r requirements.txt uvicorn'],
    ],
    [
      'pyproject.toml without a lock file',
      { 'pyproject.toml': project },
      'pip',
      ['pip install --root-user-action=ignore --disable-pip-version-check -r requirements.txt'],
    ],
    [
      'uv',
      { 'pyproject.toml': project, 'uv.lock': 'name = "fastapi"\nname = "uvicorn"\n' },
      'uv',
      [
        'uv sync --frozen --no-dev --no-editable --no-install-project',
        'uv pip install --python /opt/venv/bin/python uvicorn',
      ],
    ],
    [
      'poetry',
      { 'pyproject.toml': '[tool.poetry.dependencies]\nfastapi = "*"\nuvicorn = "*"\n', 'poetry.lock': '' },
      'poetry',
      ['python -m venv --without-pip /opt/venv', 'poetry install --only main --no-root --no-interaction'],
    ],
    [
      'pdm',
      { 'pyproject.toml': project.replace('"fastapi"', '"fastapi", "uvicorn"'), 'pdm.lock': '' },
      'pdm',
      ['python -m venv --without-pip /opt/venv', 'pdm sync --prod --no-self --no-editable'],
    ],
    [
      'pipenv',
      { Pipfile: '[packages]\nfastapi = "*"\nuvicorn = "*"\n', 'Pipfile.lock': '{}' },
      'pipenv',
      ['python -m venv --without-pip /opt/venv', 'pipenv sync'],
    ],
    [
      'pipenv without a lock file',
      { Pipfile: '[packages]\nfastapi = "*"\nuvicorn = "*"\n' },
      'pipenv',
      ['python -m venv --without-pip /opt/venv', 'pipenv install --skip-lock'],
    ],
    [
      'requirements.txt before the others',
      { ...needs('fastapi', 'uvicorn'), 'pyproject.toml': project, 'uv.lock': '' },
      'pip',
      ['pip install --root-user-action=ignore --disable-pip-version-check -r requirements.txt'],
    ],
  ])('%s', (_title, files, manager, install) => {
    const plan = planOf({ 'main.py': FASTAPI, ...files });
    expect({ manager: plan.packageManager?.name, install: plan.install }).toEqual({ manager, install });
  });

  test('the version of poetry is the one that wrote the lock file', () => {
    const plan = planOf({
      'main.py': '',
      'pyproject.toml': '[tool.poetry]\nname = "a"',
      'poetry.lock': '# This file is automatically @generated by Poetry 1.8.3 and should not be changed by hand.\n',
    });
    expect(plan.packageManager?.version).toBe('1.8.3');
  });

  test('included files come along', () => {
    const plan = planOf({
      'main.py': '',
      'requirements.txt': '-r requirements/prod.txt\n',
      'requirements/prod.txt': '-c limits.txt\nflask # web\n',
      'requirements/limits.txt': '',
    });
    expect(plan.stages[0]?.steps.filter((step) => step.kind === 'copy')).toEqual([
      { kind: 'copy', sources: ['source/requirements.txt'], target: './' },
      { kind: 'copy', sources: ['source/requirements/'], target: './requirements/' },
      { kind: 'copy', sources: ['source/'], target: './', owned: true },
    ]);
  });

  test('files that include each other end', () => {
    expect(planOf({ 'main.py': '', 'requirements.txt': '-r a.txt\n', 'a.txt': '-r requirements.txt\n' }).provider).toBe(
      'python',
    );
  });

  test('a requirement in the source brings the source first', () => {
    const plan = planOf({ 'main.py': '', 'requirements.txt': '-e .\n' });
    expect(plan.stages[0]?.steps).toContainEqual({ kind: 'copy', sources: ['source/'], target: './' });
  });

  test('a package that is compiled gets the full image for the install only, and its library at run time', () => {
    const plan = planOf({ ...needs('psycopg2'), 'main.py': '' });
    expect(plan.stages.map(({ name, from }) => [name, from])).toEqual([
      ['deps', 'python:3.13'],
      ['runtime', 'python:3.13-slim'],
    ]);
    expect(plan.apt).toEqual({ build: [], run: ['libpq5'] });
  });

  test('uv.lock without a dependency of pyproject.toml is warned of', () => {
    const plan = planOf({ 'main.py': '', 'pyproject.toml': project, 'uv.lock': 'name = "a"' });
    expect(plan.warnings[0]).toStartWith('WARNING: uv.lock does not have fastapi of pyproject.toml');
  });

  test('static files of Django are collected when it says where', () => {
    const files = {
      ...needs('django'),
      'manage.py': '',
      'shop/wsgi.py': '',
      'shop/settings.py': 'STATIC_ROOT = BASE_DIR / "static"\n',
    };
    expect(planOf(files).build).toEqual(['python manage.py collectstatic --noinput']);
    expect(planOf({ ...files, 'shop/settings.py': '# STATIC_ROOT = 1\n' }).build).toEqual([]);
  });

  test('only the variables of package indexes reach the install', () => {
    const plan = planOf(
      { 'main.py': '', 'requirements.txt': '--index-url https://${INDEX_TOKEN}@pypi.example.com/simple\n' },
      { env: { INDEX_TOKEN: 'a', PIP_TIMEOUT: '9', SECRET: 'x' } },
    );
    expect(plan.installEnv).toEqual(['INDEX_TOKEN', 'PIP_TIMEOUT']);
  });

  test('broken TOML fails with its place', () => {
    const error = refusal({ 'main.py': '', 'pyproject.toml': '[project]\nname = \n' });
    expect({ kind: error.kind, start: error.message.slice(0, 17) }).toEqual({
      kind: 'BUILD_COMMAND_FAILED',
      start: 'pyproject.toml:2:',
    });
  });
});

test('a pyproject.toml that only configures a linter makes no Python app of a site', () => {
  expect(planOf({ 'pyproject.toml': '[tool.ruff]\nline-length = 100\n', 'index.html': '' }).provider).toBe('static');
});
