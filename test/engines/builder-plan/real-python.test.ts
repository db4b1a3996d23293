import { afterAll, describe, expect, test } from 'bun:test';
import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { docker } from '#test/support/docker.ts';
import { EXAMPLES_DIR } from '#test/support/examples.ts';
import { RealBuilds } from './real-support.ts';

const APPS = join(import.meta.dir, 'python-apps');
const builds = new RealBuilds();
const folder = await mkdtemp(join(tmpdir(), 'berth-python-'));

afterAll(async () => {
  await builds.destroy();
  await rm(folder, { recursive: true, force: true });
});

const copyOf = async (name: string, from = APPS): Promise<string> => {
  const copy = join(folder, name);
  await cp(join(from, name), copy, { recursive: true });
  return copy;
};

/** A lock file of uv names an index, so it is written where it is used. */
const lockWithUv = async (dir: string): Promise<void> => {
  const command = 'pip install -q --root-user-action=ignore uv && uv lock -q';
  await docker([
    'run',
    '--rm',
    '--network',
    'host',
    '-v',
    `${dir}:/app`,
    '-w',
    '/app',
    'python:3.13-slim',
    'sh',
    '-c',
    command,
  ]);
};

describe('apps, built and run for real', () => {
  test.each([
    ['poetry', 'from poetry, and more', 'poetry install', 'main.py'],
    ['pdm', 'from pdm', 'pdm install', 'app.py'],
    ['pipenv', 'from pipenv', 'pipenv sync', 'app.py'],
    ['uv', '{"hello":"from uv","version":"0.1.0"}', 'uv sync', 'src/shop/app.py'],
    ['workspace', 'from a workspace', 'uv sync', 'packages/shared/src/shared/__init__.py'],
    ['scripts', 'from a script', '-r requirements.berth.txt', 'src/shop/cli.py'],
    ['flask', 'from Flask: tea 3.50 over http', '-r requirements.berth.txt', 'shop/__init__.py'],
    ['compiled', 'from psycopg2 with libpq', '-r requirements.txt', 'app.py'],
  ])(
    '%s answers, brings no tools, stops in time, and an edit does not install anew',
    async (name, says, install, edited) => {
      const copy = await copyOf(name);
      if (name === 'uv' || name === 'workspace') await lockWithUv(copy);
      const { tag } = await builds.build(copy);
      const running = await builds.start(tag);
      expect(await running.get('/').then((response) => response.text())).toContain(says);
      expect((await docker(['exec', running.id, 'id', '-u'])).trim()).toBe('1000');
      const tools = 'find /root/.cache -type f; command -v gcc uv poetry pdm pipenv; python -c "import iniconfig" 2>&1';
      const found = await docker(['exec', '-u', '0', running.id, 'sh', '-c', `${tools}; true`]);
      expect(found).toMatch(/^Traceback[^]*No module named 'iniconfig'\s*$/);
      expect(await running.stop()).toBeLessThan(5000);
      await appendFile(join(copy, edited), '\n# an edit\n');
      const { cached } = await builds.build(copy);
      expect(cached.join('\n')).toContain(install);
    },
    300_000,
  );

  test.each([
    ['streamlit', '/_stcore/health', 'ok'],
    ['gradio', '/', 'from Gradio'],
  ])(
    '%s answers',
    async (name, path, says) => {
      const { tag } = await builds.build(await copyOf(name));
      const running = await builds.start(tag);
      expect(await running.get(path).then((response) => response.text())).toContain(says);
      expect(await running.stop()).toBeLessThan(5000);
    },
    400_000,
  );
});

test('a site made with MkDocs is served as files', async () => {
  const { tag } = await builds.build(await copyOf('mkdocs'));
  const running = await builds.start(tag);
  expect(await running.get('/').then((response) => response.text())).toContain('<h1 id="welcome">Welcome</h1>');
  expect((await running.get('/docs/index.md')).status).toBe(404);
  await running.stop();
}, 200_000);

describe('a lock file that is older than its manifest', () => {
  test.each([
    ['poetry', 'poetry.lock', 'pyproject.toml', ['python = ">=3.11"', 'python = ">=3.12"']],
    ['pdm', 'pdm.lock', 'pyproject.toml', ['"bottle>=0.13"', '"bottle>=0.12"']],
    ['pipenv', 'Pipfile.lock', 'Pipfile', ['bottle = "*"', 'bottle = ">=0.12"']],
  ])(
    '%s: is written anew, with a warning in the log',
    async (name, lockFile, manifest, [from = '', to = '']) => {
      const copy = await copyOf(name);
      const text = await readFile(join(copy, manifest), 'utf8');
      expect(text).toContain(from);
      await writeFile(join(copy, manifest), text.replace(from, to));
      const { tag, log } = await builds.build(copy);
      expect(log).toContain(`WARNING: ${lockFile} was not written after the last change of its manifest`);
      const running = await builds.start(tag);
      expect(await running.get('/').then((response) => response.text())).toContain(`from ${name}`);
      await running.stop();
    },
    300_000,
  );
});

describe('Django behind the proxy', () => {
  test('takes forms over HTTPS, and serves what collectstatic left', async () => {
    const { tag } = await builds.build(await copyOf('python-django', EXAMPLES_DIR));
    const running = await builds.start(tag);
    const host = { host: 'web.shop.localhost', 'x-forwarded-proto': 'https' };
    const page = await running.get('/', { headers: host });
    const html = await page.text();
    expect(html).toContain('over https');
    const style = /href="(\/static\/polls\/style\.[0-9a-f]+\.css)"/.exec(html)?.[1] ?? '';
    const file = await running.get(style, { headers: host });
    expect([file.status, file.headers.get('cache-control')]).toEqual([200, 'max-age=315360000, public, immutable']);
    const token = /name="csrfmiddlewaretoken" value="(\w+)"/.exec(html)?.[1] ?? '';
    const cookie = /csrftoken=\w+/.exec(page.headers.get('set-cookie') ?? '')?.[0] ?? '';
    const post = async (origin: string): Promise<[number, boolean]> => {
      const response = await running.get('/greet/', {
        method: 'POST',
        headers: { ...host, origin, cookie, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ csrfmiddlewaretoken: token, name: 'Ada' }).toString(),
      });
      return [response.status, (await response.text()).includes('Hello Ada')];
    };
    expect(await post('https://web.shop.localhost')).toEqual([200, true]);
    expect(await post('https://evil.example')).toEqual([403, false]);
    expect((await running.get('/', { headers: { host: 'evil.example' } })).status).toBe(400);
    await running.stop();
  }, 200_000);
});
