import { expect, test } from 'bun:test';
import { createWorld } from './world.ts';

const open = async () => {
  const world = createWorld();
  return { world, page: await world.call('GET /', { token: null }) };
};

test('the address of the server answers a page, without a token', async () => {
  const { page } = await open();
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.text).toContain('berth runs here');
  expect(page.text).toContain('berth login http://berth.test\nberth deploy</code>');
});

test('behind TLS it names the address with https', async () => {
  const { world } = await open();
  const secure = await world.call('GET /', { token: null, headers: { 'x-forwarded-proto': 'https' } });
  expect(secure.text).toContain('berth login https://berth.test\n');
});

test('nothing in it runs, and nothing of it comes from elsewhere', async () => {
  const { world, page } = await open();
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toStartWith("default-src 'none'; style-src 'self';");
  expect(policy).not.toContain('unsafe');
  expect(policy).not.toContain('script-src');
  expect(page.text).not.toMatch(/<script|<style|\sstyle=|\son[a-z]+=|(?:src|href)="(?!\/|data:,)/);
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  const style = await world.call('GET /home.css', { token: null });
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
  expect(style.text).toContain('prefers-color-scheme: dark');
  expect(style.text).not.toMatch(/@import|url\(/);
});

test('every link in it leads to something', async () => {
  const { world, page } = await open();
  const links = [...page.text.matchAll(/<a href="([^"]+)">/g)].map(([, path = '']) => path);
  expect(links).toEqual(['/v1/docs', '/skill.md', '/v1/openapi.yaml', '/v1/health']);
  for (const path of links) expect((await world.call(`GET ${path}`, { token: null })).status).toBe(200);
});

test('it is no part of the API that is documented', async () => {
  const { world } = await open();
  const { body } = await world.call('GET /v1/openapi');
  expect(Object.keys(body.paths)).not.toContain('/');
  expect(Object.keys(body.paths)).not.toContain('/home.css');
});
