import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeServer } from './server.ts';

const SCRIPT = readFileSync(join(import.meta.dir, '../../install.sh'), 'utf8');
const SHELL = '#!/bin/sh\n';

let server: FakeServer;
beforeAll(async () => {
  server = new FakeServer({ systemd: false });
  await server.choosePorts();
});
afterAll(() => server.remove(), 60_000);

/** What is said before the question, which nobody answers here: nothing has been changed. */
const looked = async (...flags: string[]): Promise<string> => {
  const { code, said } = await server.install(...flags);
  expect(code).toBe(1);
  expect(existsSync(server.executable)).toBe(false);
  return said;
};

/** With a program of that name in front of the machine's own, for as long as `work` takes. */
const withTool = async (name: string, script: string, work: () => Promise<void>): Promise<void> => {
  server.tool(name, SHELL + script);
  await work();
  server.dropTool(name);
};

describe('install.sh finds', () => {
  test('podman under the name of Docker', () =>
    withTool('docker', 'echo "podman version 5.4.2"\n', async () => {
      expect(await looked()).toContain('the command docker is podman here');
    }));

  test('Docker as a snap', async () => {
    server.toolAt('docker', '/snap/bin/docker', `${SHELL}echo Docker version 27.0\n`);
    expect(await looked()).toContain('snap remove docker');
    server.dropTool('docker');
  });

  test('an engine that is too old', () =>
    withTool('docker', 'case "$*" in *APIVersion*) echo 1.38 ;; *) echo 18.06.3 ;; esac\n', async () => {
      expect(await looked()).toContain('Docker 18.06.3 is too old for berth\n  → upgrade Docker to 20.10 or later');
    }));

  test('names that lead nowhere, or elsewhere, and says which records to make', async () => {
    const domain = ['--base-domain', 'apps.example.test'];
    await withTool('getent', 'exit 2\n', async () => {
      const said = await looked(...domain);
      expect(said).toMatch(
        /! apps\.example\.test is not known to DNS\n {2}→ create a record: apps\.example\.test A \d+\./,
      );
      expect(said).toMatch(/! \*\.apps\.example\.test is not known to DNS/);
    });
    await withTool('getent', 'echo "203.0.113.7 STREAM x"\n', async () => {
      expect(await looked(...domain)).toContain('leads to 203.0.113.7, which is no address of this machine');
    });
    await withTool('ip', 'echo "2: eth0 inet 203.0.113.7/24 brd"\n', () =>
      withTool('getent', 'echo "203.0.113.7 STREAM x"\n', async () => {
        expect(await looked(...domain)).not.toContain('!');
      }),
    );
  });

  test('a firewall that keeps its ports closed', async () => {
    const [, port = ''] = /http_port = (\d+)/.exec(server.read('/var/lib/berth/berth.toml')) ?? [];
    await withTool('ufw', 'echo "Status: active"; echo "22/tcp ALLOW Anywhere"\n', async () => {
      expect(await looked()).toContain(`keeps port ${port} closed\n  → ufw allow ${port}/tcp`);
    });
    await withTool(
      'ufw',
      `echo "Status: active"; echo "${port}/tcp                     ALLOW       Anywhere"\n`,
      async () => {
        expect(await looked()).not.toContain('ufw');
      },
    );
    await withTool('ufw', 'exit 1\n', () =>
      withTool('firewall-cmd', 'case "$1" in --state) exit 0 ;; esac; exit 1\n', async () => {
        expect(await looked()).toContain(`firewall-cmd --permanent --add-port=${port}/tcp`);
      }),
    );
  });

  test('a kernel without limits of memory', async () => {
    server.write('/sys/fs/cgroup/cgroup.controllers', 'cpuset cpu io pids\n');
    const said = await looked();
    expect(said).toContain('this kernel does not limit memory');
    expect(said).not.toContain('does not limit cpu');
  });
});

describe('install.sh takes an executable', () => {
  const bytes = `${SHELL}echo "berth 9.9.9"\n`;
  const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
  let requests: string[] = [];
  let web: ReturnType<typeof Bun.serve>;
  beforeAll(() => {
    web = Bun.serve({
      port: 0,
      fetch: (request) => {
        const { pathname } = new URL(request.url);
        requests.push(pathname);
        if (pathname.startsWith('/bare/') && pathname.endsWith('.sha256')) return new Response('', { status: 404 });
        if (pathname.startsWith('/wrong/') && pathname.endsWith('.sha256'))
          return new Response(`${'0'.repeat(64)}  x\n`);
        return new Response(pathname.endsWith('.sha256') ? `${sha256}  x\n` : bytes);
      },
    });
  });
  afterAll(() => web.stop(true));
  const at = (path: string): string => `http://127.0.0.1:${web.port}${path}`;

  test('only over https, or with its checksum', async () => {
    const said = await looked('--from', 'http://downloads.example.test/', '--yes');
    expect(said).toContain('use https, or add --sha256');
  });

  test('only when it is what its checksum says', async () => {
    expect(await looked('--from', at('/wrong/berth'), '--yes')).toContain('its checksum is not 000000');
    expect(await looked('--from', at('/bare/berth'), '--yes')).toContain(
      `there is no checksum at ${at('/bare/berth')}.sha256`,
    );
    expect(await looked('--from', at('/'), '--sha256', '1'.repeat(64), '--yes')).toContain(
      'its checksum is not 111111',
    );
    expect(await looked('--from', '/no/such/file', '--yes')).toContain('there is no file /no/such/file');
    expect(existsSync(server.path('/usr/local/lib/berth/berth.download'))).toBe(false);
  });

  test('of its own processor from a folder, when it is piped into a shell', async () => {
    requests = [];
    const { code, said } = await server.pipe(SCRIPT, '--from', at('/'), '--yes');
    expect([code, said]).toEqual([0, expect.stringContaining('berth 9.9.9')]);
    const name = `/berth-linux-${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;
    expect(requests).toEqual([name, `${name}.sha256`]);
    expect(readFileSync(server.executable, 'utf8')).toBe(bytes);
    expect((await server.pipe(SCRIPT, '--uninstall', '--yes')).code).toBe(0);
    expect(existsSync(server.executable) || existsSync(server.path('/usr/local/lib/berth'))).toBe(false);
  });

  test('from nowhere, when nobody says from where', async () => {
    const { code, said } = await server.pipe(SCRIPT, '--yes');
    expect([code, said]).toEqual([1, expect.stringContaining('--from URL|FILE')]);
  });
});

test("two runs do not get in each other's way", async () => {
  const lock = server.write('/run/berth-install.lock', '');
  const holder = Bun.spawn(['flock', lock, 'sh', '-c', 'echo held; exec sleep 60'], { stdout: 'pipe' });
  await holder.stdout.getReader().read();
  const { code, said } = await server.install('--yes');
  expect([code, said]).toEqual([1, expect.stringContaining('another run of install.sh is under way')]);
  holder.kill();
  await holder.exited;
});

test('a script that arrived only in part does nothing', async () => {
  const cuts = [
    ...Array.from({ length: 20 }, (_, part) => Math.floor((SCRIPT.length * part) / 20)),
    ...Array.from({ length: 30 }, (_, back) => SCRIPT.length - 3 - back),
  ];
  for (const cut of cuts) {
    const { said } = await server.pipe(SCRIPT.slice(0, cut), '--help');
    expect([cut, said.includes('Usage')]).toEqual([cut, false]);
  }
  expect((await server.pipe(SCRIPT, '--help')).said).toContain('Usage: install.sh');
}, 60_000);
