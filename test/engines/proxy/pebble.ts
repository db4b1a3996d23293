import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerSpec, Runtime } from '#engines/runtime/port';
import { freePorts } from './support.ts';

const IMAGE = 'berth-test/pebble';

export interface Pebble {
  /** The ACME directory. */
  directory: string;
  /** Certifies pebble's own HTTPS. */
  caFile: string;
  /** Certifies what pebble issues. */
  rootPem: string;
  /** Makes the resolver fail for a name, so that no certificate can be had for it. */
  breakDns(host: string): Promise<void>;
  dispose(): Promise<void>;
}

export interface PebbleOptions {
  runtime: Runtime;
  /** Where HTTP-01 challenges are looked for, on loopback, for every name. */
  httpPort: number;
  validitySeconds: number;
}

/** The ACME test server with its DNS server, on ports of their own. */
export const startPebble = async ({ runtime, httpPort, validitySeconds }: PebbleOptions): Promise<Pebble> => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-pebble-'));
  await chmod(folder, 0o755);
  const [acme = 0, management = 0, dns = 0, dnsManagement = 0] = await freePorts(4);
  const labels = { 'berth.installation': `pebble-test-${process.pid}-${acme}` };
  const containers: string[] = [];
  const run = async (name: string, command: string[], env: Record<string, string> = {}): Promise<string> => {
    const { id } = await runtime.create(
      container(`${labels['berth.installation']}-${name}`, command, { env, labels, folder }),
    );
    containers.push(id);
    await runtime.start(id);
    return id;
  };

  await mkdir(join(folder, 'config'), { recursive: true });
  const config = pebbleConfig({ acme, management, httpPort, validitySeconds });
  await writeFile(join(folder, 'config/pebble.json'), JSON.stringify(config), { mode: 0o644 });
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, await output(runtime, await run('ca', ['cat', '/test/certs/pebble.minica.pem'])));
  const off = ['-http01', '-https01', '-tlsalpn01', '-doh'].flatMap((service) => [service, '']);
  const dnsCommand = ['pebble-challtestsrv', '-defaultIPv4', '127.0.0.1', '-defaultIPv6', '', ...off];
  await run('dns', [...dnsCommand, '-dnsserver', `127.0.0.1:${dns}`, '-management', `127.0.0.1:${dnsManagement}`]);
  await run('acme', ['pebble', '-config', '/config/pebble.json', '-dnsserver', `127.0.0.1:${dns}`], {
    PEBBLE_VA_NOSLEEP: '1',
    PEBBLE_WFE_NONCEREJECT: '0',
  });
  await fetchOnceUp(`http://127.0.0.1:${dnsManagement}/`);
  return {
    directory: `https://127.0.0.1:${acme}/dir`,
    caFile,
    rootPem: await fetchOnceUp(`https://127.0.0.1:${management}/roots/0`),
    breakDns: async (host) => {
      const body = JSON.stringify({ host: `${host}.` });
      const response = await fetch(`http://127.0.0.1:${dnsManagement}/set-servfail`, { method: 'POST', body });
      if (!response.ok) throw new Error(`the DNS server answered ${response.status}`);
    },
    dispose: async () => {
      await Promise.all(containers.map((id) => runtime.remove(id)));
      await rm(folder, { recursive: true, force: true });
    },
  };
};

interface PebbleConfig {
  acme: number;
  management: number;
  httpPort: number;
  validitySeconds: number;
}

const pebbleConfig = ({ acme, management, httpPort, validitySeconds }: PebbleConfig): object => ({
  pebble: {
    listenAddress: `127.0.0.1:${acme}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: '/test/certs/localhost/cert.pem',
    privateKey: '/test/certs/localhost/key.pem',
    httpPort,
    tlsPort: 1,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
    keyAlgorithm: 'ecdsa',
    profiles: { default: { description: 'the only one', validityPeriod: validitySeconds } },
  },
});

interface ContainerOptions {
  env: Record<string, string>;
  labels: Record<string, string>;
  folder: string;
}

const container = (name: string, command: string[], { env, labels, folder }: ContainerOptions): ContainerSpec => ({
  name,
  image: IMAGE,
  command,
  env,
  labels,
  network: 'host',
  loopbackPorts: [],
  mounts: [{ hostPath: join(folder, 'config'), target: '/config', readOnly: true }],
  volumes: [],
  memoryBytes: 128 * 2 ** 20,
  cpus: 1,
  pidsLimit: 100,
  capAdd: [],
  readOnlyRoot: true,
  tmpfs: [],
  restart: 'no',
  init: false,
  stopGraceSeconds: 1,
});

const output = async (runtime: Runtime, id: string): Promise<string> => {
  const lines: string[] = [];
  for await (const { line } of runtime.logs(id, { follow: true })) lines.push(line);
  return `${lines.join('\n')}\n`;
};

/** Reads a text as soon as the server is up, whatever its certificate. */
const fetchOnceUp = async (url: string): Promise<string> => {
  const deadline = performance.now() + 10_000;
  for (;;) {
    try {
      return await (await fetch(url, { tls: { rejectUnauthorized: false } })).text();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await Bun.sleep(50);
  }
};
