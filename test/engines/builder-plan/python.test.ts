import { describe, expect, test } from 'bun:test';
import { FASTAPI, FLASK, gunicorn, needs, uvicorn } from './python-support.ts';
import { type Files, planOf, refusal } from './support.ts';

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
      gunicorn('app:app'),
    ],
    ['Starlette', { ...needs('starlette'), 'main.py': 'app = Starlette(routes=[])' }, 'Starlette', uvicorn('main:app')],
    ['Litestar', { ...needs('litestar'), 'app.py': 'app = Litestar([])' }, 'Litestar', uvicorn('app:app')],
    ['Quart', { ...needs('quart'), 'app.py': 'app = Quart(__name__)' }, 'Quart', uvicorn('app:app')],
    ['Flask', { ...needs('Flask==3.0.0'), 'app.py': 'app = Flask(__name__)' }, 'Flask', gunicorn('app:app')],
    [
      'a Flask factory',
      { ...needs('flask'), 'shop/__init__.py': 'def create_app(config=None):\n  app = Flask(__name__)\n  return app' },
      'Flask',
      gunicorn('shop:create_app()'),
    ],
    [
      'Flask in wsgi.py',
      { ...needs('flask'), 'wsgi.py': 'application = Flask(__name__)' },
      'Flask',
      gunicorn('wsgi:application'),
    ],
    ['Dash', { ...needs('dash'), 'app.py': 'app = Dash(__name__)' }, 'Dash', gunicorn('app:app.server')],
    [
      'Django',
      {
        ...needs('django'),
        'manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")',
        'shop/wsgi.py': '',
      },
      'Django',
      gunicorn('shop.wsgi:application'),
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
      gunicorn('config.wsgi:application'),
    ],
    [
      'Django with channels',
      { ...needs('django', 'channels'), 'manage.py': '', 'shop/asgi.py': '', 'shop/wsgi.py': '' },
      'Django (ASGI)',
      uvicorn('shop.asgi:application'),
    ],
    [
      'Streamlit',
      { ...needs('streamlit'), 'app.py': 'import streamlit as st\n' },
      'Streamlit',
      [
        '/bin/sh',
        '-c',
        'exec streamlit run app.py --server.port "${PORT:-8080}" --server.address 0.0.0.0 --server.headless true --server.fileWatcherType none --browser.gatherUsageStats false',
      ],
    ],
    [
      'Gradio',
      { ...needs('gradio'), 'app.py': 'import gradio as gr\n' },
      'Gradio',
      [
        '/bin/sh',
        '-c',
        'exec env GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT="${PORT:-8080}" GRADIO_ANALYTICS_ENABLED=False python app.py',
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

test('a pyproject.toml that only configures a linter makes no Python app of a site', () => {
  expect(planOf({ 'pyproject.toml': '[tool.ruff]\nline-length = 100\n', 'index.html': '' }).provider).toBe('static');
});

describe('where the app object is', () => {
  const at = (...files: string[]): Files => Object.fromEntries(files.map((file) => [file, FASTAPI]));

  test.each([
    ['src with a package', at('src/shop/main.py'), uvicorn('shop.main:app', ' --app-dir src')],
    ['a package', at('shop/server.py'), uvicorn('shop.server:app')],
    ['the usual place before another', at('main.py', 'tools/main.py'), uvicorn('main:app')],
    ['app/ before another package', at('app/main.py', 'shop/main.py'), uvicorn('app.main:app')],
    ['the usual name before another in one folder', at('shop/zeta.py', 'shop/main.py'), uvicorn('shop.main:app')],
    ['a file of any name', at('hello.py'), uvicorn('hello:app')],
    [
      'not in tests, examples and environments',
      at('tests/main.py', 'examples/main.py', 'venv/lib/main.py', 'shop/x.py'),
      uvicorn('shop.x:app'),
    ],
    ['the folder with the name of the service', at('api/main.py', 'web/main.py'), uvicorn('web.main:app')],
    ['the file with the name of the service', at('services/api.py', 'services/web.py'), uvicorn('services.web:app')],
    ['app of several objects', { 'main.py': 'admin = FastAPI()\napp = FastAPI()\n' }, uvicorn('main:app')],
    [
      'the object of a factory that is called',
      {
        'main.py': 'from shop import create_app\napp = create_app()\n',
        'shop/__init__.py': 'def create_app():\n  return FastAPI()\n',
      },
      uvicorn('main:app'),
    ],
    ['a dotted call', { 'main.py': 'import a.b\nweb = a.b.FastAPI()\n' }, uvicorn('main:web')],
  ])('%s', (_title, files, start) => {
    expect(planOf({ ...needs('fastapi'), ...files }).start).toEqual(start);
  });

  test.each([
    ['folders', at('api/main.py', 'backend/main.py'), 'app in api/main.py, app in backend/main.py'],
    ['files', at('one.py', 'two.py'), 'app in one.py, app in two.py'],
    ['objects', { 'main.py': 'one = FastAPI()\ntwo = FastAPI()\n' }, 'one in main.py, two in main.py'],
  ])('several %s and no choice', (_title, files, list) => {
    const error = refusal({ ...needs('fastapi'), ...files });
    expect(error.message).toBe(`this source has several FastAPI apps: ${list}`);
    expect(error.hint).toContain('name the service after the folder');
  });

  test('a start command settles it', () => {
    const files = {
      ...needs('fastapi'),
      ...at('api/main.py', 'backend/main.py'),
      Procfile: 'web: uvicorn api.main:app --port $PORT\n',
    };
    const plan = planOf(files);
    expect(plan.start).toEqual(['/bin/sh', '-c', 'exec uvicorn api.main:app --port $PORT']);
    expect(plan.framework).toBe('FastAPI');
  });

  test.each([
    [
      'a factory with defaults',
      'def create_app(config=None, *, debug: bool = False):\n  return Flask(__name__)\n',
      gunicorn('shop:create_app()'),
    ],
    [
      'a factory over several lines',
      'def make_app(\n    config=None,\n):\n  return Flask(__name__)\n',
      gunicorn('shop:make_app()'),
    ],
    [
      'a factory with a result type',
      'def create_app() -> Flask:\n  return Flask(__name__)\n',
      gunicorn('shop:create_app()'),
    ],
    ['a factory that needs an argument', 'def create_app(config):\n  return Flask(__name__)\n', ['python', 'main.py']],
  ])('%s', (_title, text, start) => {
    expect(planOf({ ...needs('flask'), 'shop/__init__.py': text, 'main.py': '' }).start).toEqual(start);
  });

  test('the module that calls a factory, as Flask documents it', () => {
    const files = {
      ...needs('flask'),
      'microblog.py': 'from app import create_app, db\n\napp = create_app()\n',
      'app/__init__.py': 'def create_app(config_class=Config):\n    app = Flask(__name__)\n    return app\n',
    };
    expect(planOf(files).start).toEqual(gunicorn('microblog:app'));
  });
});

describe('which server', () => {
  test.each([
    [
      'hypercorn alone',
      { ...needs('quart', 'hypercorn'), 'app.py': 'app = Quart(__name__)' },
      ['/bin/sh', '-c', 'exec hypercorn app:app --bind "0.0.0.0:${PORT:-8080}"'],
    ],
    [
      'waitress alone',
      { ...needs('flask', 'waitress'), 'app.py': FLASK },
      ['/bin/sh', '-c', 'exec waitress-serve --listen "0.0.0.0:${PORT:-8080}" app:app'],
    ],
    [
      'gunicorn with a configuration of its own',
      { ...needs('flask'), 'app.py': FLASK, 'gunicorn.conf.py': '' },
      ['gunicorn', 'app:app'],
    ],
    [
      'Sanic',
      { ...needs('sanic'), 'server.py': 'app = Sanic("x")' },
      ['/bin/sh', '-c', 'exec sanic server:app --host=0.0.0.0 --port="${PORT:-8080}"'],
    ],
    ['FastHTML', { ...needs('python-fasthtml'), 'main.py': 'app = FastHTML()' }, uvicorn('main:app')],
    [
      'Chainlit',
      { ...needs('chainlit'), 'app.py': 'import chainlit as cl' },
      ['/bin/sh', '-c', 'exec chainlit run app.py --host 0.0.0.0 --port "${PORT:-8080}" --headless'],
    ],
    [
      'Panel',
      { ...needs('panel'), 'app.py': 'import panel as pn' },
      [
        '/bin/sh',
        '-c',
        `exec panel serve app.py --address 0.0.0.0 --port "\${PORT:-8080}" --allow-websocket-origin '*'`,
      ],
    ],
    ['Gradio inside of FastAPI', { ...needs('gradio', 'fastapi'), 'main.py': FASTAPI }, uvicorn('main:app')],
    [
      'a Streamlit page of any name',
      { ...needs('streamlit'), 'dashboard.py': 'import streamlit', 'lib.py': '' },
      [
        '/bin/sh',
        '-c',
        'exec streamlit run dashboard.py --server.port "${PORT:-8080}" --server.address 0.0.0.0 --server.headless true --server.fileWatcherType none --browser.gatherUsageStats false',
      ],
    ],
  ])('%s', (_title, files, start) => {
    expect(planOf(files).start).toEqual(start);
  });

  test('several Streamlit pages are listed', () => {
    const error = refusal({ ...needs('streamlit'), 'one.py': 'import streamlit', 'two.py': 'import streamlit' });
    expect(error.message).toBe('this source has several Streamlit apps: one.py, two.py');
  });

  test('what the number of processes is', () => {
    expect(planOf({ ...needs('flask'), 'app.py': FLASK }).decisions).toContain(
      'gunicorn: one process, which fits a small memory limit; WEB_CONCURRENCY sets their number',
    );
  });
});

describe('sites made with Python', () => {
  test('MkDocs is built, and served as files', () => {
    const plan = planOf({ ...needs('mkdocs-material'), 'mkdocs.yml': 'site_name: x\n', 'docs/index.md': '' });
    expect({ root: plan.staticRoot, build: plan.build, start: plan.start[0] }).toEqual({
      root: 'site',
      build: ['mkdocs build'],
      start: 'caddy',
    });
    expect(plan.stages.map(({ name }) => name)).toEqual(['build', 'server', 'runtime']);
  });

  test('output serves what any build leaves', () => {
    const plan = planOf({
      ...needs('jinja2'),
      'make.py': '',
      'berth.toml': '[build]\nbuild = "python make.py"\noutput = "out"\n',
    });
    expect(plan.stages.at(-1)?.steps).toContainEqual({
      kind: 'copy',
      from: 'build',
      sources: ['/app/out/'],
      target: '/srv/',
      owned: true,
    });
  });

  test('an app beside its documentation stays an app', () => {
    expect(planOf({ ...needs('mkdocs', 'fastapi'), 'mkdocs.yml': '', 'main.py': FASTAPI }).staticRoot).toBeNull();
  });
});
