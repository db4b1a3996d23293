import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#kernel/clock';
import { chooseApiVersion } from '#engines/docker/connection';
import { createDockerRuntime } from '#engines/runtime/docker';
import { openLab, quiet } from './support.ts';

describe('the API version', () => {
  test.each([
    ['1.41', '1.12', '1.41'],
    ['1.50', '1.24', '1.50'],
    ['1.52', '1.44', '1.51'],
    ['1.9', '1.1', '1.9'],
    ['1.70', '1.60', '1.60'],
    ['2.0', '1.44', '1.51'],
    ['1.41', undefined, '1.41'],
  ])('of an engine with %s, and at least %s, is %s', (offered, oldest, chosen) => {
    expect(chooseApiVersion(offered, oldest)).toBe(chosen);
  });
});

describe('requests', () => {
  const directory = mkdtempSync(join(tmpdir(), 'berth-engine-'));
  const socketPath = join(directory, 'engine.sock');
  let server: Bun.Server<undefined> | undefined;
  afterEach(async () => {
    await server?.stop(true);
    rmSync(directory, { recursive: true, force: true });
  });

  test('follow an engine that is replaced by a newer one, and carry no secret in their URL', async () => {
    let engine = { ApiVersion: '1.41', MinAPIVersion: '1.12', Version: '20.10' };
    const urls: string[] = [];
    server = Bun.serve({
      unix: socketPath,
      fetch: (request) => {
        const { pathname, search } = new URL(request.url);
        urls.push(pathname + search);
        if (pathname === '/version') return Response.json(engine);
        const version = /^\/v([\d.]+)\//.exec(pathname)?.[1] ?? '';
        if (Number(version.split('.')[1]) < Number(engine.MinAPIVersion.split('.')[1])) {
          const message = `client version ${version} is too old. Minimum supported API version is ${engine.MinAPIVersion}`;
          return Response.json({ message }, { status: 400 });
        }
        return Response.json({ Id: 'abc' }, { status: 201 });
      },
    });
    const runtime = createDockerRuntime({ socketPath, clock: systemClock, log: quiet });
    const network = { name: 'n', subnet: '10.0.0.0/24', gateway: '10.0.0.1', bridge: 'b' };
    const spec = { ...openLab().spec(network, '10.0.0.2', ['true']), name: 'shop-web', env: { TOKEN: 'a-secret' } };
    expect(await runtime.create(spec)).toEqual({ id: 'abc' });
    engine = { ApiVersion: '1.52', MinAPIVersion: '1.44', Version: '29.0' };
    expect(await runtime.create(spec)).toEqual({ id: 'abc' });
    expect(urls).toEqual([
      '/version',
      '/v1.41/containers/create?name=shop-web',
      '/v1.41/containers/create?name=shop-web',
      '/version',
      '/v1.51/containers/create?name=shop-web',
    ]);
  });
});
