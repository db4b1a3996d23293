import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DynamicConfig, render, routeConfig } from '#engines/proxy/traefik-config-builder/index';
import { BerthError } from '#kernel/errors';
import { route } from '#test/contracts/proxy.ts';
import { startTraefik, type Traefik } from './support.ts';

/** Texts that mean something to Go templates, YAML, Traefik's rule language, URLs or the file system. */
const PAYLOADS = [
  '{{env "HOME"}}',
  '{{ env `PATH` }}',
  '{{"{{"}}',
  '{{/* hidden',
  '{{- range $i, $e := until 1000000000 }}x{{ end -}}',
  '}}',
  'a`) || Host(`b.example.com',
  'a`) || PathPrefix(`/',
  ') || Host(`victim.example.com`) || (Host(`x',
  'a.example.com\n  evil: true',
  'a.example.com"\n}\nhttp:\n  routers: {}',
  'a.example.com\r\nX-Evil: 1',
  'a.example.com\u0000',
  'a.example.com\u2028',
  'münchen.example.com',
  'ex\u0430mple.com',
  'a.example.com.',
  '.example.com',
  'a..example.com',
  '-a.example.com',
  'a-.example.com',
  'A.example.com',
  'a_b.example.com',
  '*.example.com',
  '{sub:[a-z]+}.example.com',
  'a.example.com:80',
  'a.example.com/path',
  'user@example.com',
  '../../etc/passwd',
  '127.0.0.1',
  '[::1]',
  `${'a'.repeat(64)}.example.com`,
  `${'a.'.repeat(127)}example.com`,
  '$(reboot).example.com',
  "a'; reboot; '.example.com",
  '',
];

const kindOf = (work: () => unknown): string => {
  try {
    work();
    return 'accepted';
  } catch (error) {
    return error instanceof BerthError ? error.kind : `not a BerthError: ${String(error)}`;
  }
};

describe('second-order rendering: refused before a rule is written', () => {
  test.each(PAYLOADS)('host %j', (payload) => {
    expect(kindOf(() => routeConfig(route({ hosts: [payload] }), { tls: false }))).toBe('INVALID_INPUT');
  });

  test.each(PAYLOADS)('name %j', (payload) => {
    expect(kindOf(() => routeConfig(route({ project: payload }), { tls: false }))).toBe('INVALID_INPUT');
    expect(kindOf(() => routeConfig(route({ service: payload }), { tls: false }))).toBe('INVALID_INPUT');
  });

  test.each(PAYLOADS.filter((payload) => payload !== '127.0.0.1'))('address %j', (payload) => {
    const upstreams = [{ ip: payload, port: 80 }];
    expect(kindOf(() => routeConfig(route({ upstreams }), { tls: false }))).toBe('INVALID_INPUT');
  });

  test.each(PAYLOADS.filter((payload) => !payload.startsWith('..')))('health path /%j', (payload) => {
    const dangerous = /[^\x21-\x7e]|["{}`<>\\^|#]|^\//.test(payload);
    const outcome = kindOf(() => routeConfig(route({ healthPath: `/${payload}` }), { tls: false }));
    if (dangerous) expect(outcome).toBe('INVALID_INPUT');
    expect(kindOf(() => routeConfig(route({ healthPath: payload }), { tls: false }))).toBe('INVALID_INPUT');
  });
});

/** A configuration as it would be if validation had let the payload through. */
const unchecked = (payload: string): DynamicConfig => {
  const config = routeConfig(route(), { tls: false });
  const [middleware] = Object.values(config.http.middlewares);
  return {
    http: {
      ...config.http,
      middlewares: {
        'shop.web.retry': middleware ?? { retry: { attempts: 1, initialInterval: '1s' } },
        probe: { headers: { customRequestHeaders: { 'X-Probe': payload, [`X-${payload}`]: 'in the key' } } },
      },
    },
  };
};

const PRINTABLE = PAYLOADS.filter((payload) => /^[\x20-\x7e]*$/.test(payload));

describe('second-order rendering: inert should it ever be written', () => {
  test.each(PRINTABLE)('%j leaves no template action in the file, and reads back the same', (payload) => {
    const text = render(unchecked(payload));
    expect(text).not.toContain('{{');
    expect(text).not.toContain('}}');
    expect(JSON.parse(text)).toEqual(unchecked(payload));
  });

  test('characters beyond printable ASCII are never written', () => {
    expect(() => render(unchecked('münchen'))).toThrow('plain ASCII');
    expect(() => render(unchecked('\u2028'))).toThrow('plain ASCII');
  });
});

describe('second-order rendering: with a real Traefik', () => {
  let traefik: Traefik;
  beforeAll(async () => {
    traefik = await startTraefik();
    await traefik.proxy.ensure();
    await traefik.proxy.apply(route());
  }, 60_000);
  afterAll(() => traefik.dispose(), 60_000);

  interface Middleware {
    headers?: { customRequestHeaders?: Record<string, string> };
  }
  const seen = async (): Promise<string | undefined> =>
    (await traefik.api<Middleware>('/api/http/middlewares/probe@file'))?.headers?.customRequestHeaders?.['X-Probe'];
  const until = async (wanted: string): Promise<string | undefined> => {
    const deadline = performance.now() + 2_000;
    while (performance.now() < deadline && (await seen()) !== wanted) await Bun.sleep(5);
    return seen();
  };

  test('the template engine is really there: an unescaped action does fire', async () => {
    const text = JSON.stringify(unchecked('{{add 40 2}}'));
    await writeFile(join(traefik.dynamicDir, 'shop.web.yml'), text);
    expect(await until('42')).toBe('42');
  });

  test.each(PRINTABLE)('%j is the same text inside Traefik', async (payload) => {
    const wanted = `probe ${payload}`;
    await writeFile(join(traefik.dynamicDir, 'shop.web.yml'), render(unchecked(wanted)));
    expect(await until(wanted)).toBe(wanted);
  });
});
