import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Ajv from 'ajv';
import { parse } from 'smol-toml';
import { loadConfig } from '#kernel/config';
import { createWorld } from '#test/app/world.ts';
import { atEnd } from '#test/support/preload.ts';
import { schemas } from '../../scripts/schemas.ts';

const ROOT = join(import.meta.dir, '../..');

const check = (name: string): ((toml: string) => string) => {
  const ajv = new Ajv({ strict: true, allErrors: true });
  const validate = ajv.compile(JSON.parse(schemas()[name] ?? '') as object);
  return (toml) => (validate(parse(toml)) ? '' : ajv.errorsText(validate.errors));
};
const service = check('berth.toml.json');
const server = check('server.toml.json');

test.each(Object.entries(schemas()))(
  'schemas/%s is what the code says (update: bun scripts/schemas.ts)',
  async (name, text) => {
    expect(await Bun.file(join(ROOT, 'schemas', name)).text()).toBe(text);
  },
);

test.each(Object.keys(schemas()))('%s is served without a token, to editors on other origins too', async (name) => {
  const { status, headers, text } = await createWorld().call(`GET /schema/${name}`, { token: null });
  expect([status, headers.get('content-type')]).toEqual([200, 'application/schema+json']);
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(JSON.parse(text)).toEqual(JSON.parse(schemas()[name] ?? ''));
  expect((await createWorld().call('GET /schema/constructor', { token: null })).status).toBe(404);
});

describe('of a source', () => {
  test('takes every example of the documentation', async () => {
    const text = await Bun.file(join(ROOT, 'docs/builder.md')).text();
    const blocks = [...text.matchAll(/```toml\n([^]*?)```/g)].map(([, block = '']) => block);
    expect(blocks.length).toBeGreaterThan(0);
    expect(blocks.map(service)).toEqual(blocks.map(() => ''));
  });

  test('takes every file of the examples', async () => {
    const files = await Array.fromAsync(new Bun.Glob('examples/**/berth.toml').scan(ROOT));
    for (const file of files) expect([file, service(await Bun.file(join(ROOT, file)).text())]).toEqual([file, '']);
  });

  test.each([
    '',
    '[build]\nstart = "node server.js"',
    '[build]\nstart = ["node", "server.js"]\napt = ["ffmpeg"]\nspa = true',
    '[build]\ninstall = []\nbuild = ""',
    '[services.web.build]\nroot = "apps/web"\nprovider = "node"',
  ])('takes %p', (toml) => {
    expect(service(toml)).toBe('');
  });

  test.each([
    ['[biuld]\nstart = "x"', 'additional properties'],
    ['[build]\nstrat = "x"', 'additional properties'],
    ['[build]\nstart = 3', 'must be string'],
    ['[build]\nstart = []', 'fewer than 1'],
    ['[build]\napt = "ffmpeg"', 'must be array'],
    ['[build]\napt = ["a; id"]', 'must match pattern'],
    ['[build]\nspa = "yes"', 'must be boolean'],
    ['[build]\nprovider = "nod"', 'must be equal to one of'],
    ['[services.web]\nstart = "x"', 'additional properties'],
    ['[services.Web.build]\nstart = "x"', 'must match pattern'],
  ])('refuses %p', (toml, why) => {
    expect(service(toml)).toContain(why);
  });
});

describe('of a server', () => {
  test.each([
    '',
    'base_domain = "apps.example.com"\nacme_email = "you@example.com"\ndefault_memory_mb = 256',
    'default_cpus = 0.5\nfirewall = false\nlog_level = "debug"',
  ])('takes %p, as the server does', async (toml) => {
    expect(server(toml)).toBe('');
    const file = join(mkdtempSync(join(tmpdir(), 'settings-')), 'berth.toml');
    atEnd(() => rmSync(dirname(file), { recursive: true }));
    await Bun.write(file, toml);
    expect(() => loadConfig({ flags: {}, env: {}, file })).not.toThrow();
  });

  test.each([
    ['base_domian = "x"', 'additional properties'],
    ['http_port = 70000', 'must be <= 65535'],
    ['http_port = "80"', 'must be integer'],
    ['firewall = "on"', 'must be boolean'],
    ['log_level = "loud"', 'must be equal to one of'],
    ['quota_services = -1', 'must be >= 0'],
  ])('refuses %p', (toml, why) => {
    expect(server(toml)).toContain(why);
  });
});
