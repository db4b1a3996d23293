import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { helloApp, nodeApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';

let berth: Berth;
let hostService: Server;
let hostPort = 0;

/** Tries to connect to `?host=&port=` from inside, and says how it went. */
const PROBE = nodeApp(`(request, response) => {
  const query = new URL(request.url, 'http://x').searchParams;
  const socket = require('node:net').connect({ host: query.get('host'), port: Number(query.get('port')), timeout: 1500 });
  const end = (text) => { socket.destroy(); if (!response.writableEnded) response.end(text); };
  socket.on('connect', () => end('connected'));
  socket.on('timeout', () => end('timeout'));
  socket.on('error', (error) => end(error.code));
}`);

beforeAll(async () => {
  berth = await Berth.boot();
  hostService = createServer((socket) => socket.end('host'));
  hostPort = await new Promise((resolve) => {
    hostService.listen(0, '0.0.0.0', () => {
      const address = hostService.address();
      resolve(address !== null && typeof address === 'object' ? address.port : 0);
    });
  });
  await berth.project('mine');
  await berth.project('theirs');
  expect((await berth.deploy('mine', 'probe', PROBE)).status).toBe('succeeded');
  expect((await berth.deploy('mine', 'friend', helloApp('friend'))).status).toBe('succeeded');
  expect(await berth.deploy('theirs', 'web', helloApp('theirs'))).toMatchObject({ status: 'succeeded', error: null });
}, 240_000);

afterAll(async () => {
  hostService.close();
  await berth.destroy();
}, 60_000);

const reach = async (host: string, port: number): Promise<string> =>
  berth.appText('mine', 'probe', `/?host=${host}&port=${port}`);

interface Inspected {
  Id: string;
  Config: { User: string; Env: string[] };
  HostConfig: Record<string, unknown>;
  NetworkSettings: { Networks: Record<string, { IPAddress: string; Gateway: string }> };
}

const replica = async (project: string, service: string): Promise<Inspected> => {
  const filters = [
    '--filter',
    `label=dev.berth.instance=${berth.instance()}`,
    '--filter',
    `label=dev.berth.project=${project}`,
    '--filter',
    `label=dev.berth.service=${service}`,
  ];
  const id = (await docker(['ps', '-q', ...filters])).trim();
  const [inspected] = JSON.parse(await docker(['inspect', id])) as Inspected[];
  if (inspected === undefined) throw new Error('no replica');
  return inspected;
};

const addressOf = async (project: string, service: string): Promise<{ ip: string; gateway: string }> => {
  const [network] = Object.values((await replica(project, service)).NetworkSettings.Networks);
  return { ip: network?.IPAddress ?? '', gateway: network?.Gateway ?? '' };
};

const hostAddress = (): string =>
  Object.entries(networkInterfaces())
    .filter(
      ([name]) => !name.startsWith('docker') && !name.startsWith('brth') && !name.startsWith('br-') && name !== 'lo',
    )
    .flatMap(([, addresses]) => addresses ?? [])
    .find((address) => address.family === 'IPv4')?.address ?? '127.0.0.1';

describe('from an app', () => {
  test('a service of the same project is reached by its name', async () => {
    expect(await reach('friend', 8080)).toBe('connected');
  }, 60_000);

  test('a service of another project is not, by name or by address', async () => {
    const { ip } = await addressOf('theirs', 'web');
    expect(await reach('web', 8080)).not.toBe('connected');
    expect(await reach(ip, 8080)).not.toBe('connected');
  }, 60_000);

  test('the gateway and the host’s own address refuse what a host process listens on', async () => {
    const { gateway } = await addressOf('mine', 'probe');
    for (const host of [gateway, hostAddress()]) expect(await reach(host, hostPort)).not.toBe('connected');
  }, 60_000);

  test('the API, the registry and the proxy’s API are out of reach', async () => {
    const { gateway } = await addressOf('mine', 'probe');
    for (const port of [berth.ports.api, berth.ports.registry, berth.ports.proxyApi]) {
      for (const host of [gateway, hostAddress(), '127.0.0.1', '172.17.0.1'])
        expect(await reach(host, port)).not.toBe('connected');
    }
    const registry = (await docker(['ps', '-q', '--filter', `publish=${berth.ports.registry}`])).trim();
    const ip = (
      await docker(['inspect', '--format', '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}', registry])
    ).trim();
    expect(await reach(ip, 5000)).not.toBe('connected');
  }, 60_000);

  test('the metadata address is out of reach', async () => {
    expect(await reach('169.254.169.254', 80)).not.toBe('connected');
  }, 60_000);

  test('its own public address is reached, as any client’s', async () => {
    const { gateway } = await addressOf('mine', 'probe');
    expect(await reach(gateway, berth.ports.http)).toBe('connected');
  }, 60_000);
});

describe('from a build step', () => {
  test('apps, the host, the registry and the metadata address are out of reach', async () => {
    const { ip } = await addressOf('theirs', 'web');
    const targets = [
      `${ip}:8080`,
      `172.17.0.1:${hostPort}`,
      `${hostAddress()}:${hostPort}`,
      `172.17.0.1:${berth.ports.registry}`,
      `172.17.0.1:${berth.ports.api}`,
      '169.254.169.254:80',
      `${await neighbour()}:8080`,
    ];
    const script = targets
      .map(
        (target) =>
          `const s${targets.indexOf(target)} = n.connect({host: '${target.split(':')[0]}', port: ${target.split(':')[1]}, timeout: 1500}); watch(s${targets.indexOf(target)}, '${target}');`,
      )
      .join('\n');
    const probe = `const n = require('node:net');\nconst watch = (s, t) => { s.on('connect', () => { console.log('REACHED ' + t); s.destroy(); }); s.on('timeout', () => s.destroy()); s.on('error', () => {}); };\n${script}\nsetTimeout(() => console.log('probed all'), 2500);\n`;
    const files = {
      ...helloApp('built'),
      'probe.js': probe,
      Dockerfile:
        'FROM node:24-slim\nWORKDIR /app\nCOPY . .\nRUN node probe.js\nUSER node\nCMD ["node", "server.js"]\n',
    };
    const operation = await berth.deploy('mine', 'builder', files);
    const stream = String((await berth.api(operation.stream_url)).body);
    expect(stream).toContain('probed all');
    expect(stream).not.toContain('REACHED');
  }, 120_000);

  test('nor does the engine itself fetch anything for a build from where it runs', async () => {
    for (const port of [berth.ports.proxyApi, berth.ports.registry, berth.ports.api]) {
      const Dockerfile = `FROM node:24-slim\nARG WHERE=127.0.0.1\nADD http://$WHERE:${port}/ /x\n`;
      const operation = await berth.deploy('mine', 'builder', { Dockerfile });
      expect(operation).toMatchObject({ phase: 'failed', error: { code: 'INVALID_INPUT' } });
      expect(operation.error?.message).toContain('line 3 of the Dockerfile');
    }
  }, 60_000);
});

/** The address of something that listens on the network of build steps, as a step of another build may. */
const neighbour = async (): Promise<string> => {
  const label = `dev.berth.instance=${berth.instance()}`;
  const listen = "require('node:net').createServer((socket) => socket.end('hello')).listen(8080)";
  const id = (await docker(['run', '-d', '--label', label, 'node:24-slim', 'node', '-e', listen])).trim();
  return (await docker(['inspect', '--format', '{{.NetworkSettings.Networks.bridge.IPAddress}}', id])).trim();
};

test('a replica’s container is hardened: golden HostConfig', async () => {
  const { HostConfig } = await replica('mine', 'probe');
  expect(HostConfig).toMatchObject({
    Binds: null,
    Privileged: false,
    PublishAllPorts: false,
    ReadonlyRootfs: false,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges:true'],
    Memory: 512 * 1024 * 1024,
    MemorySwap: 512 * 1024 * 1024,
    NanoCpus: 1e9,
    PidsLimit: 512,
    Init: true,
    IpcMode: 'private',
    PidMode: '',
    UTSMode: '',
    UsernsMode: '',
    RestartPolicy: { Name: 'unless-stopped', MaximumRetryCount: 0 },
    LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
  });
  expect(HostConfig.PortBindings ?? {}).toEqual({});
  expect(HostConfig.Devices ?? []).toEqual([]);
});
