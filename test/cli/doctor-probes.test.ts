import { describe, expect, test } from 'bun:test';
import { realProbes } from '#cli/doctor/real-probes';

const GIB = 1024 ** 3;

describe('the real probes', () => {
  test('find out who listens', async () => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ status: 'ok' }) });
    const port = server.port ?? 0;
    expect(await realProbes.connects('127.0.0.1', port)).toBe(true);
    expect(await realProbes.listeners(port)).toEqual([expect.stringContaining('bun')]);
    expect(await realProbes.http(`http://127.0.0.1:${port}/`, undefined)).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    });
    await server.stop(true);
    expect(await realProbes.connects('127.0.0.1', port)).toBe(false);
    expect(await realProbes.listeners(port)).toEqual([]);
  });

  test('measure this machine', async () => {
    expect((await realProbes.memory()).totalBytes).toBeGreaterThan(GIB / 4);
    expect((await realProbes.disk('/')).totalBytes).toBeGreaterThan(GIB);
    expect(await realProbes.stat('/no/such/path')).toBeUndefined();
    expect(await realProbes.stat('/tmp')).toMatchObject({ directory: true });
    expect(await realProbes.resolve('localhost')).not.toEqual([]);
    expect(await realProbes.resolve('no-such-host.invalid')).toEqual([]);
    expect(await realProbes.sqlite()).toMatch(/^3\.\d+\.\d+$/);
    expect(await realProbes.output(['git', '--version'])).toMatchObject({
      code: 0,
      text: expect.stringContaining('git version'),
    });
  });
});
