import { afterAll, expect, test } from 'bun:test';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { docker } from '#test/support/docker.ts';
import { RealBuilds, type Running } from './real-support.ts';
import type { Files } from './support.ts';

const builds = new RealBuilds();
const folder = await mkdtemp(join(tmpdir(), 'berth-php-'));

afterAll(async () => {
  await builds.destroy();
  await rm(folder, { recursive: true, force: true });
});

const write = async (name: string, files: Files): Promise<string> => {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, name, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  return join(folder, name);
};

const seen = async (running: Running, path: string): Promise<string> => {
  const response = await running.get(path);
  return `${path} ${response.status}`;
};

const REPORT = `<?php
header('Content-Type: application/json');
echo json_encode([
    'https' => $_SERVER['HTTPS'] ?? 'off',
    'client' => $_SERVER['REMOTE_ADDR'],
    'env' => $_ENV['PORT'] ?? null,
    'mysqli' => extension_loaded('mysqli'),
    'opcache' => extension_loaded('Zend OPcache'),
    'memory' => ini_get('memory_limit'),
    'user' => posix_getuid(),
    'writes' => is_writable(__DIR__),
    'workers' => getenv('WEB_CONCURRENCY'),
]);
`;

test('a plain folder: pages, .htaccess, the proxy, and nothing that is private', async () => {
  const dir = await write('plain', {
    '.php-version': '8.4',
    '.env': 'SECRET=1',
    '.htaccess': 'RewriteEngine On\nRewriteRule ^pretty/(\\w+)$ page.php?name=$1 [L]\n',
    '.well-known/security.txt': 'Contact: us',
    'index.php': REPORT,
    'page.php': '<?php echo "page of ", htmlspecialchars($_GET["name"] ?? "nobody");',
    'broken.php': '<?php throw new Exception("a secret detail");',
    'style.css': 'body {}',
    'php.ini': 'memory_limit = 200M\n',
    'dump.sql': 'secret',
    'settings.yml': 'secret',
    'page.php.bak': 'secret',
    'vendor/lib/a.js': 'secret',
    'images/a.png': 'png',
  });
  const { tag } = await builds.build(dir);
  const running = await builds.start(tag);
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' };
  expect(await running.get('/', { headers }).then((response) => response.json())).toEqual({
    https: 'on',
    client: '203.0.113.7',
    env: '3456',
    mysqli: true,
    opcache: true,
    memory: '200M',
    user: 1000,
    writes: true,
    workers: '16',
  });
  expect(await running.get('/pretty/anna').then((response) => response.text())).toBe('page of anna');
  const broken = await running.get('/broken.php');
  expect([broken.status, await broken.text()]).toEqual([500, '']);
  const paths = [
    '/style.css',
    '/.well-known/security.txt',
    '/images/a.png',
    '/images/',
    '/.env',
    '/%2eenv',
    '/.htaccess',
  ];
  const hidden = ['/dump.sql', '/settings.yml', '/page.php.bak', '/php.ini', '/vendor/lib/a.js', '/nope'];
  expect(await Promise.all([...paths, ...hidden].map((path) => seen(running, path)))).toEqual([
    '/style.css 200',
    '/.well-known/security.txt 200',
    '/images/a.png 200',
    '/images/ 404',
    '/.env 404',
    '/%2eenv 404',
    '/.htaccess 404',
    ...hidden.map((path) => `${path} 404`),
  ]);
  expect(await docker(['logs', running.id])).toContain('"GET /style.css HTTP/1.1" 200');
  expect(await docker(['exec', running.id, 'sh', '-c', 'command -v gcc make phpize g++; true'])).toBe('');
  expect(await running.stop()).toBeLessThan(5000);
}, 300_000);

test('assets are made with Node beside PHP, and a command of the user’s runs without Apache', async () => {
  const dir = await write('assets', {
    'composer.json': '{"name":"acme/assets","require":{"php":"~8.4.0"},"autoload":{"classmap":["src/"]}}',
    'src/Page.php':
      '<?php class Page { public static function text(): string { return file_get_contents(__DIR__ . "/../public/app.js"); } }',
    'public/index.php': '<?php require __DIR__ . "/../vendor/autoload.php"; echo Page::text();',
    'package.json': '{"scripts":{"build":"node build.js"}}',
    'build.js':
      "const { execFileSync } = require('child_process'); const version = execFileSync('php', ['-r', 'echo PHP_MAJOR_VERSION;']); require('fs').writeFileSync('public/app.js', `built by Node beside PHP ${version}`);",
    Procfile: 'web: php -S 0.0.0.0:$PORT -t public\n',
  });
  const { tag } = await builds.build(dir);
  const running = await builds.start(tag);
  expect(await running.get('/').then((response) => response.text())).toBe('built by Node beside PHP 8');
  const left = 'id -u; ls -d node_modules; command -v node npm composer apache2; true';
  expect(await docker(['exec', running.id, 'sh', '-c', `(${left}) 2>/dev/null`])).toBe('1000\n');
  expect(await running.stop()).toBeLessThan(5000);
}, 300_000);
