import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { helloApp } from '#test/support/apps.ts';
import { pack } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import { FakeServer } from './server.ts';

describe('install.sh', () => {
  let server: FakeServer;
  let ports: { api: number; http: number };
  beforeAll(async () => {
    server = new FakeServer({ systemd: true });
    ports = await server.choosePorts();
  });
  afterAll(() => server.remove(), 60_000);

  const api = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${ports.api}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${server.read('/var/lib/berth/admin-token').trim()}`,
        'content-type': 'application/json',
        ...Object.fromEntries(new Headers(init.headers)),
      },
    });
  const app = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${ports.http}/`, { headers: { host: 'web--shop.apps.example.test' } })).text();
  const ours = async (what: string[]): Promise<string[]> =>
    (await docker([...what, '--filter', `label=dev.berth.instance=${instance}`])).split('\n').filter((id) => id !== '');
  let instance = '';

  test('asks before it changes anything, and says so when there is nobody to ask', async () => {
    const { code, said } = await server.install();
    expect(code).toBe(1);
    expect(said).toContain('there is nobody to ask\n  → add --yes');
    expect(said).toContain(`to          ${server.executable}`);
    expect(existsSync(server.executable)).toBe(false);
    expect(server.asked).toEqual([]);
  });

  test('installs the executable and a service, and starts it', async () => {
    const { code, said } = await server.install('--base-domain', 'apps.example.test', '--yes');
    expect([code, said]).toEqual([0, expect.stringContaining('berth is installed')]);
    expect(server.asked).toEqual(['daemon-reload', 'enable berth', 'restart berth']);
    expect((await api('/v1/projects')).status).toBe(200);
    expect(server.read('/var/lib/berth/berth.toml')).toContain('base_domain = "apps.example.test"\n');
    expect(statSync(server.dataDir).mode & 0o777).toBe(0o700);
    expect(statSync(`${server.dataDir}/admin-token`).mode & 0o777).toBe(0o600);
    expect(said).toContain('*.apps.example.test have to point at this machine');
    expect(said).not.toContain(server.read('/var/lib/berth/admin-token').trim());
    expect(server.read('/log')).not.toContain(server.read('/var/lib/berth/admin-token').trim());
  }, 60_000);

  test('the unit is one that systemd accepts', async () => {
    const verify = Bun.spawn(['systemd-analyze', 'verify', '--man=no', server.unit], { stderr: 'pipe' });
    const complaints = (await new Response(verify.stderr).text())
      .split('\n')
      .filter((line) => line.includes('berth.service') && !line.includes('docker.service'));
    expect(complaints).toEqual([]);
  });

  test('a second run keeps settings and state, restarts the server only for what is new, and the apps go on', async () => {
    await api('/v1/projects', { method: 'POST', body: JSON.stringify({ name: 'shop' }) });
    const archive = (await pack(helloApp('still here'))) as Uint8Array<ArrayBuffer>;
    const deploy = await api('/v1/projects/shop/services/web/deploys', {
      method: 'POST',
      body: new Blob([archive]),
      headers: { 'content-type': 'application/gzip' },
    });
    const { operation_id } = (await deploy.json()) as { operation_id: string };
    const stream = await api(`/v1/operations/${operation_id}/stream`);
    expect(await stream.text()).toContain('"status":"succeeded"');
    const before = server.pid;
    const { code, said } = await server.install('--acme-email=', '--base-domain=apps.example.test', '--yes');
    expect([code, said]).toEqual([1, expect.stringContaining('--acme-email needs a value')]);
    expect((await server.install('--yes')).said).toContain('This will upgrade berth');
    expect(server.pid).toBe(before);
    expect((await server.install('--yes', '--base-domain=next.example.test')).code).toBe(0);
    expect((await server.install('--yes', '--base-domain=apps.example.test')).code).toBe(0);
    expect(server.pid).not.toBe(before);
    expect(await app()).toBe('still here');
    expect((await api('/v1/projects/shop')).status).toBe(200);
    const config = server.read('/var/lib/berth/berth.toml');
    expect(config.match(/base_domain/g)).toHaveLength(1);
  }, 120_000);

  test('uninstalling stops everything, and keeps the state, with which a new installation goes on', async () => {
    const containers = (await docker(['ps', '-aq', '--filter', 'label=dev.berth.instance'])).split('\n');
    for (const id of containers.filter((line) => line !== '')) {
      const mounts = await docker(['inspect', '--format', '{{range .Mounts}}{{.Source}} {{end}}', id]);
      if (mounts.includes(server.root))
        instance = (await docker(['inspect', '--format', '{{index .Config.Labels "dev.berth.instance"}}', id])).trim();
    }
    expect((await ours(['ps', '-q'])).length).toBe(3);
    const { code, said } = await server.install('--uninstall', '--yes');
    expect([code, said]).toEqual([0, expect.stringContaining('berth is removed')]);
    expect(server.asked.slice(-2)).toEqual(['disable --now berth', 'daemon-reload']);
    expect(existsSync(server.executable) || existsSync(server.unit)).toBe(false);
    expect(await ours(['ps', '-aq'])).toEqual([]);
    expect(await ours(['network', 'ls', '-q'])).toEqual([]);
    const chain = `BERTH-${instance.slice(-4).toUpperCase()}`;
    expect(await Bun.$`iptables -w 5 -S`.text()).not.toContain(chain);
    expect(existsSync(`${server.dataDir}/berth.db`)).toBe(true);
    expect((await server.install('--yes')).code).toBe(0);
    const deadline = performance.now() + 60_000;
    while ((await app().catch(() => '')) !== 'still here' && performance.now() < deadline) await Bun.sleep(200);
    expect(await app()).toBe('still here');
  }, 180_000);

  test('purging leaves nothing', async () => {
    expect((await server.install('--uninstall', '--purge', '--yes')).said).toContain('will be DELETED');
    expect(existsSync(server.dataDir)).toBe(false);
    for (const what of [
      ['ps', '-aq'],
      ['network', 'ls', '-q'],
      ['volume', 'ls', '-q'],
      ['images', '-aq'],
    ])
      expect(await ours(what)).toEqual([]);
  }, 60_000);
});

describe('install.sh on a machine that', () => {
  let server: FakeServer;
  beforeAll(async () => {
    server = new FakeServer({ systemd: false });
    await server.choosePorts();
  });
  afterAll(() => server.remove(), 60_000);

  const refusal = async (): Promise<string> => {
    const { code, said } = await server.install('--yes');
    expect(code).toBe(1);
    expect(existsSync(server.executable)).toBe(false);
    return said;
  };

  test('has another system is refused', async () => {
    server.write('/etc/os-release', 'ID=alpine\n');
    expect(await refusal()).toContain('Debian, Ubuntu, Fedora and their like, not on alpine');
    server.write('/etc/os-release', 'ID=linuxmint\nID_LIKE="ubuntu debian"\n');
  });

  test('has too little memory is told so with the numbers', async () => {
    server.write('/proc/meminfo', 'MemTotal:         262144 kB\n');
    expect(await refusal()).toContain('256 MB of memory');
    server.write('/proc/meminfo', 'MemTotal:         2621440 kB\n');
  });

  test('has too little disk is told so with the numbers', async () => {
    server.tool('df', '#!/bin/sh\nprintf "h\\n/dev/x 10000 9000 1000 90%% /\\n"\n');
    expect(await refusal()).toContain('1000 MB are free');
    server.tool('df', '#!/bin/sh\nPATH=/usr/bin:/bin exec df "$@"\n');
  });

  test('has a port in use is told which, and by what', async () => {
    const [, port = '0'] = /http_port = (\d+)/.exec(server.read('/var/lib/berth/berth.toml')) ?? [];
    const thief = Bun.serve({ hostname: '0.0.0.0', port: Number(port), fetch: () => new Response('mine') });
    try {
      const said = await refusal();
      expect(said).toContain(`port ${port} is taken by bun (process ${process.pid})`);
    } finally {
      await thief.stop(true);
    }
  });

  test('has no systemd gets the line that starts the server', async () => {
    const { code, said } = await server.install('--yes');
    expect(code).toBe(0);
    expect(said).toContain(`setsid nohup ${server.executable} server --data-dir ${server.dataDir}`);
    expect(existsSync(server.unit)).toBe(false);
  });

  test('values that are no domain or address are refused', async () => {
    for (const flags of [
      ['--base-domain', 'Apps.example.com'],
      ['--base-domain', 'x"\nlisten = "0.0.0.0:1'],
      ['--base-domain', 'apps.example.com; rm -rf /'],
      ['--acme-email', 'nobody'],
      ['--acme-email', 'a@b"c'],
      ['--acme-email', 'me@example.com'],
      ['--purge'],
      ['--what'],
    ])
      expect((await server.install(...flags, '--yes')).code).toBe(1);
    expect(readFileSync(`${server.dataDir}/berth.toml`, 'utf8')).not.toMatch(/base_domain|acme_email|0\.0\.0\.0/);
  });
});

test('all shell scripts are clean by shellcheck', async () => {
  const root = join(import.meta.dir, '../..');
  const tracked = (await Bun.$`git -C ${root} ls-files`.text()).split('\n');
  const isShell = async (path: string): Promise<boolean> =>
    /^#(?:!\S*[ /](?:ba)?sh\b| shellcheck shell=)/.test(await Bun.file(join(root, path)).slice(0, 40).text());
  const scripts = [];
  for (const path of tracked.filter((name) => /^(?:scripts\/|\.ci\/|[^/]+\.sh$)/.test(name)))
    if (await isShell(path)) scripts.push(path);
  expect(scripts.length).toBeGreaterThan(15);
  const child = Bun.spawn(['shellcheck', '-x', ...scripts], { cwd: root, stdout: 'pipe' });
  expect(await new Response(child.stdout).text()).toBe('');
  expect(await child.exited).toBe(0);
}, 60_000);
