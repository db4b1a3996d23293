import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Operation } from '#modules/operations';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import { until } from '#test/support/until.ts';

/** One secret of every difficult kind: plain, with characters that encodings change, of several lines. */
const SECRETS = {
  PLAIN: 'Qm3-planted-7Zt9-marker',
  ODD: 'p@ss/wörd"9-+planted&K=',
  KEY: '-----BEGIN KEY-----\nplantedMIIabc0123456789+/\nplantedXYZ9876543210ab==\n-----END KEY-----',
};

let berth: Berth;
/** Command lines of all processes, seen while the tests ran. */
const commandLines = new Set<string>();
let watching: ReturnType<typeof setInterval>;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
  expect((await berth.api('/v1/projects/shop/env', { method: 'PUT', body: SECRETS })).status).toBe(200);
  watching = setInterval(() => {
    const { stdout } = Bun.spawnSync(['ps', '-eo', 'args']);
    for (const line of stdout.toString().split('\n')) commandLines.add(line);
  }, 250);
}, 120_000);

afterAll(async () => {
  clearInterval(watching);
  await berth.destroy();
}, 60_000);

/** Every text that gives a secret away: as it is, escaped, encoded, and its single lines. */
const forms = (): string[] => {
  const whole = [...Object.values(SECRETS), ...SECRETS.KEY.split('\n').slice(1, 3)];
  return whole.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
  ]);
};

const leaksIn = (text: string): string[] => forms().filter((form) => text.includes(form));

/** JavaScript that tells all secrets in every way, one of them in two pieces. */
const TELL_ALL = `
for (const name of ${JSON.stringify(Object.keys(SECRETS))}) {
  const value = process.env[name];
  if (!value) throw new Error('the secret ' + name + ' is not here');
  console.log('plain: ' + value);
  console.error('json: ' + JSON.stringify({ value }));
  console.log('url: ' + encodeURIComponent(value));
  console.log('base64: ' + Buffer.from(value).toString('base64'));
}
process.stdout.write('pieces: ' + process.env.PLAIN.slice(0, 9));
setTimeout(() => { process.stdout.write(process.env.PLAIN.slice(9) + '\\n'); console.log('told all'); THEN }, 300);
`;

/** What any reader can see of an operation and its service. */
const shown = async (operation: Operation): Promise<string> => {
  const paths = [
    operation.stream_url,
    `/v1/operations/${operation.operation_id}`,
    `/v1/projects/shop/services/${operation.service}/logs?follow=false&tail=1000`,
    '/v1/projects/shop/events?follow=false',
    '/v1/projects/shop',
    '/v1/projects/shop/env',
    `/v1/projects/shop/services/${operation.service}`,
    '/metrics',
  ];
  const replies = await Promise.all(paths.map((path) => berth.api(path)));
  return replies.map(({ body }) => (typeof body === 'string' ? body : JSON.stringify(body))).join('\n');
};

describe('secrets stay secret when', () => {
  test('the build that knows them fails, in a Dockerfile of the user', async () => {
    const operation = await berth.deploy('shop', 'own', {
      'tell.js': TELL_ALL.replace('THEN', 'process.exit(7);'),
      Dockerfile: `FROM node:24-slim\nARG PLAIN\nARG ODD\nARG KEY\nCOPY . .\nRUN echo ${Date.now()} && node tell.js\n`,
    });
    expect(operation).toMatchObject({ status: 'failed', error: { code: 'BUILD_COMMAND_FAILED' } });
    expect(operation.error?.log_tail).toContain('told all');
    expect(leaksIn(await shown(operation))).toEqual([]);
  }, 90_000);

  test('the build that knows them fails, in a build by berth', async () => {
    const manifest = { name: 'x', version: '1.0.0', scripts: { build: 'node tell.js', start: 'node x.js' } };
    const operation = await berth.deploy('shop', 'auto', {
      'package.json': JSON.stringify(manifest),
      'x.js': `// ${Date.now()}`,
      'tell.js': TELL_ALL.replace('THEN', 'process.exit(7);'),
    });
    expect(operation).toMatchObject({ status: 'failed', error: { code: 'BUILD_COMMAND_FAILED' } });
    expect(operation.error?.log_tail).toContain('told all');
    expect(leaksIn(await shown(operation))).toEqual([]);
  }, 90_000);

  test('the app that tells them crashes at its start', async () => {
    const files = { ...helloApp('x'), 'server.js': TELL_ALL.replace('THEN', 'process.exit(3);') };
    const operation = await berth.deploy('shop', 'crash', files);
    expect(operation).toMatchObject({ phase: 'rolled_back', error: { code: 'HEALTH_CHECK_FAILED' } });
    expect(operation.error?.log_tail).toContain('told all');
    expect(leaksIn(await shown(operation))).toEqual([]);
  }, 90_000);

  test('the app that tells them never listens', async () => {
    const settings = { health_timeout_seconds: 3 };
    await berth.api('/v1/projects/shop/services/crash', { method: 'PATCH', body: settings });
    const files = { ...helloApp('x'), 'server.js': TELL_ALL.replace('THEN', 'setInterval(() => undefined, 1000);') };
    const operation = await berth.deploy('shop', 'crash', files);
    expect(operation.error?.message).toContain('never listened');
    expect(operation.error?.log_tail).toContain('told all');
    expect(leaksIn(await shown(operation))).toEqual([]);
  }, 90_000);

  test('the app that tells them serves, and its log is followed live', async () => {
    const app = helloApp('open');
    const files = { ...app, 'server.js': `${app['server.js']}\n${TELL_ALL.replace('THEN', '')}` };
    const operation = await berth.deploy('shop', 'open', files);
    expect(operation).toMatchObject({ status: 'succeeded', error: null });
    await until(async () => (await shown(operation)).includes('told all'));
    expect(leaksIn(await shown(operation))).toEqual([]);
  }, 90_000);

  test('they come in requests that are refused', async () => {
    const bodies = [{ 'not a name': SECRETS.PLAIN }, { NUMBER: [SECRETS.PLAIN] }, { ['X'.repeat(5000)]: SECRETS.ODD }];
    for (const body of bodies) {
      const reply = await berth.api('/v1/projects/shop/env', { method: 'PUT', body });
      expect(reply.status).toBe(400);
      expect(leaksIn(JSON.stringify(reply.body))).toEqual([]);
    }
    const wrong = await berth.api('/v1/projects', { token: `${berth.token}x` });
    expect(wrong.status).toBe(401);
    expect(JSON.stringify(wrong.body)).not.toContain(berth.token);
  });

  test('all of that has been stored: no file, log, image or process list holds them', async () => {
    for (const form of [...forms(), berth.token])
      expect({ form, files: await filesWith(form) }).toEqual({
        form,
        files: form === berth.token ? ['admin-token'] : [],
      });
    const proxy = (await docker(['ps', '-q', '--filter', `name=berth-${berth.instance()}-proxy`])).trim();
    const images = (await docker(['images', '-aq', '--filter', `label=dev.berth.instance=${berth.instance()}`])).split(
      '\n',
    );
    const histories = await Promise.all(
      [...new Set(images)].filter(Boolean).map((id) => docker(['history', '--no-trunc', id])),
    );
    const texts = [berth.serverLog, [...commandLines].join('\n'), await docker(['logs', proxy]), ...histories];
    for (const text of texts) {
      expect(leaksIn(text)).toEqual([]);
      expect(text).not.toContain(berth.token);
    }
    expect(commandLines.size).toBeGreaterThan(20);
    expect(readFileSync(`/proc/${berth.pid}/environ`, 'utf8')).not.toContain(SECRETS.PLAIN);
  }, 60_000);
});

/** Files of the data directory that contain `text`. */
const filesWith = async (text: string): Promise<string[]> => {
  // A pattern of several lines would match any one of them.
  const [line = ''] = text.split('\n').toSorted((a, b) => b.length - a.length);
  // By standard input: the process list is watched too.
  const stdin = new Blob([`${line}\n`]);
  const child = Bun.spawn(['grep', '-rlF', '-f', '-', '.'], { cwd: berth.dataDir, stdin, stdout: 'pipe' });
  const found = await new Response(child.stdout).text();
  return found
    .split('\n')
    .filter(Boolean)
    .map((path) => path.replace('./', ''));
};
