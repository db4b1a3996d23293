import { describe, expect, test } from 'bun:test';
import { gunicorn, needs, uvicorn } from './python-support.ts';
import { type Files, dockerfileOf, planOf, refusal } from './support.ts';

const MANAGE = 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n';
const STARTPROJECT = `from pathlib import Path
BASE_DIR = Path(__file__).resolve().parent.parent
DEBUG = True
ALLOWED_HOSTS = []
INSTALLED_APPS = [
    'django.contrib.admin',
    'django.contrib.staticfiles',
]
DATABASES = {
    'default': {
        'ENGINE': 'django.db.backends.sqlite3',
        'NAME': BASE_DIR / 'db.sqlite3',
    }
}
STATIC_URL = 'static/'
`;
const READY = `import os
DEBUG = os.environ.get("DEBUG") == "1"
ALLOWED_HOSTS = os.environ["HOSTS"].split(",")
INSTALLED_APPS = ["django.contrib.staticfiles"]
DATABASES = {"default": dj_database_url.config(default="sqlite:///db.sqlite3")}
STATIC_ROOT = BASE_DIR / "staticfiles"
`;

const django = (settings: string, more: Files = {}): Files => ({
  ...needs('django', 'gunicorn', 'whitenoise'),
  'manage.py': MANAGE,
  'shop/settings.py': settings,
  'shop/wsgi.py': MANAGE,
  Procfile: 'release: python manage.py migrate --noinput\n',
  ...more,
});

describe('static files', () => {
  const COLLECT = ['python manage.py collectstatic --noinput'];

  test('are collected when the settings say where', () => {
    expect(planOf(django(READY)).build).toEqual(COLLECT);
    expect(planOf(django('# STATIC_ROOT = 1\nif True:\n    STATIC_ROOT = 2\n')).build).toEqual([]);
    expect(planOf(django(READY), { env: { DISABLE_COLLECTSTATIC: '1' } }).build).toEqual([]);
  });

  test('are collected with the settings of production, where wsgi.py names others than manage.py', () => {
    const files = {
      ...needs('django'),
      'manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")',
      'config/wsgi.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")',
      'config/settings/local.py': '',
      'config/settings/base.py': 'STATIC_ROOT = "s"\n',
      'config/settings/production.py': 'from .base import *\n',
    };
    const command = 'python manage.py collectstatic --noinput';
    expect(planOf(files).build).toEqual([`DJANGO_SETTINGS_MODULE=config.settings.production ${command}`]);
    expect(planOf(files, { env: { DJANGO_SETTINGS_MODULE: 'x' } }).build).toEqual([command]);
  });

  test('what the build writes belongs to the app, and nothing else is copied for that', () => {
    expect(dockerfileOf(django(READY))).toContain(
      'python manage.py collectstatic --noinput && find . ! -user app -exec chown -h app:app {} +',
    );
  });
});

describe('advice', () => {
  test('what startproject writes works here, with everything said that will not', () => {
    const plan = planOf({ ...django(STARTPROJECT), ...needs('django'), Procfile: '' });
    expect(plan.start).toEqual(gunicorn('shop.wsgi:application'));
    expect(plan.warnings).toEqual([
      'shop/settings.py:4: ALLOWED_HOSTS is empty, so that requests for any name but localhost get status 400: add the name of the service, whose address is in BERTH_SERVICE_URL',
      'shop/settings.py:3: DEBUG is on, and shows settings to visitors: read it from a variable',
      'shop/settings.py:5: nothing serves the static files outside of runserver: add whitenoise (and STATIC_ROOT), or keep them elsewhere',
      'shop/settings.py:9: SQLite lies in the container, so that its data is gone with each release and is not shared by replicas: use a database outside',
      'no release command runs the migrations: write "release: python manage.py migrate --noinput" into a Procfile, or set release in the [build] table of berth.toml',
    ]);
  });

  test('settings that are ready get none', () => {
    expect(planOf(django(READY)).warnings).toEqual([]);
  });
});

describe('which module', () => {
  test('several WSGI modules without a hint are listed', () => {
    const files = { ...needs('django'), 'manage.py': '', 'a/wsgi.py': '', 'b/wsgi.py': '' };
    expect(refusal(files).message).toEndWith('manage.py names the settings of none: a/wsgi.py, b/wsgi.py');
    expect(planOf({ ...files, Procfile: 'web: gunicorn b.wsgi\n' }).start).toEqual(['gunicorn', 'b.wsgi']);
  });

  test('a project one folder down', () => {
    const plan = planOf({
      ...needs('django'),
      'backend/manage.py': MANAGE,
      'backend/shop/wsgi.py': MANAGE,
      'backend/shop/settings.py': 'STATIC_ROOT = "x"\n',
    });
    expect(plan.start).toEqual(gunicorn('shop.wsgi:application', '--chdir', 'backend'));
    expect(plan.build).toEqual(['python backend/manage.py collectstatic --noinput']);
  });

  test.each([
    ['uvicorn alone', ['django', 'uvicorn'], uvicorn('shop.asgi:application')],
    ['uvicorn beside gunicorn', ['django', 'uvicorn', 'gunicorn'], gunicorn('shop.wsgi:application')],
    ['channels', ['django', 'channels', 'gunicorn'], uvicorn('shop.asgi:application')],
  ])('%s', (_title, packages, start) => {
    const plan = planOf({ ...needs(...packages), 'manage.py': MANAGE, 'shop/wsgi.py': '', 'shop/asgi.py': '' });
    expect(plan.start).toEqual(start);
  });
});
