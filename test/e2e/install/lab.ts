import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { executableName, ownPlatform, PLATFORMS } from '#kernel/platform';
import { docker } from '#test/support/docker.ts';
import type { Machine, Network } from '#test/support/machine.ts';

const REPOSITORY = join(import.meta.dir, '../../..');

export const DOMAIN = 'apps.example.test';
/** What the network's DNS has for a server with this domain: it knows no wildcards. */
export const NAMES = [DOMAIN, `berth-doctor.${DOMAIN}`, `web--shop.${DOMAIN}`];
/** What a server fetches in its first minutes, and what the examples here are built on. */
export const IMAGES = ['traefik:v3.6', 'registry:3', 'caddy:2', 'valkey/valkey:8'];

export const ARCH = process.arch === 'arm64' ? 'arm64' : 'amd64';
const CA_FILE = '/etc/pebble.pem';

/** Whoever publishes berth: a web server with the installer, and folders with executables and their checksums. */
export interface Publisher {
  url: string;
  /** The flags that take the executable of a folder. */
  from(folder: string): string;
  stop(): Promise<void>;
}

export const publish = (network: Network, executables: Record<string, string>): Publisher => {
  const sums = Object.fromEntries(Object.entries(executables).map(([folder, file]) => [folder, sha256Of(file)]));
  const name = `berth-linux-${ARCH}`;
  const server = Bun.serve({
    hostname: '0.0.0.0',
    port: 0,
    fetch: ({ url }) => {
      const [folder = '', file = ''] = new URL(url).pathname.slice(1).split('/');
      if (folder === 'install.sh') return new Response(Bun.file(join(REPOSITORY, 'install.sh')));
      const executable = executables[folder];
      if (executable === undefined) return new Response('not here', { status: 404 });
      return file === name ? new Response(Bun.file(executable)) : new Response(`${sums[folder]}  ${name}\n`);
    },
  });
  const url = `http://${network.gateway}:${server.port}`;
  return {
    url,
    from: (folder) => `--from ${url}/${folder}/ --sha256 ${sums[folder]}`,
    stop: () => server.stop(true),
  };
};

/** A folder as `bun run build` writes it: this machine's executable, and stand-ins for the other platforms. */
export const makeRelease = async (executable: string, version: string, folder: string): Promise<void> => {
  mkdirSync(folder);
  const executables = PLATFORMS.map((platform) => {
    const name = executableName(platform);
    const file = join(folder, name);
    const isOwn = platform === ownPlatform();
    if (isOwn) copyFileSync(executable, file);
    else writeFileSync(file, `for ${platform}, ${version}`);
    const add = (content: Uint8Array, ending: string, packing: string) => {
      writeFileSync(file + ending, content);
      return { name: name + ending, bytes: content.length, sha256: sha256Of(file + ending), packing };
    };
    const plain = readFileSync(file);
    const packed = isOwn ? [] : [add(gzipSync(plain), '.gz', 'gzip'), add(zstdCompressSync(plain), '.zst', 'zstd')];
    return { platform, name, bytes: plain.length, sha256: sha256Of(file), packed };
  });
  await Bun.write(join(folder, 'manifest.json'), JSON.stringify({ version, executables }));
};

const sha256Of = (file: string): string => new Bun.CryptoHasher('sha256').update(readFileSync(file)).digest('hex');

/** A certificate authority in the network: ACME by HTTP, names by the network's DNS. */
export class Authority {
  readonly #id: string;
  /** Certifies its own HTTPS. */
  readonly caPem: string;
  /** Certifies what it issues. */
  readonly rootPem: string;

  private constructor(id: string, caPem: string, rootPem: string) {
    this.#id = id;
    this.caPem = caPem;
    this.rootPem = rootPem;
  }

  static async start(network: Network): Promise<Authority> {
    const script =
      'sed "s/5002/80/" /test/config/pebble-config.json >/tmp/pebble.json && exec pebble -config /tmp/pebble.json -dnsserver 127.0.0.11:53';
    const id = (
      await docker([
        'run',
        '--detach',
        '--network',
        network.id,
        '--network-alias',
        'pebble',
        '--env',
        'PEBBLE_VA_NOSLEEP=1',
        '--env',
        'PEBBLE_WFE_NONCEREJECT=0',
        'berth-test/pebble',
        'sh',
        '-euc',
        script,
      ])
    ).trim();
    const caPem = await docker(['exec', id, 'cat', '/test/certs/pebble.minica.pem']);
    const address = await docker([
      'inspect',
      '--format',
      '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}',
      id,
    ]);
    return new Authority(id, caPem, await rootOf(address.trim()));
  }

  /** Makes berth on that machine ask here for certificates, and the machine's programs trust them. */
  async introduceTo(machine: Machine): Promise<void> {
    await machine.run(['sh', '-euc', `cat >${CA_FILE}`], { input: this.caPem });
    await machine.run(['sh', '-euc', 'cat >/usr/local/share/ca-certificates/pebble.crt && update-ca-certificates'], {
      input: this.rootPem,
    });
    await machine.run(['sh', '-euc', 'mkdir -p /var/lib/berth && cat >>/var/lib/berth/berth.toml'], {
      input: `acme_server = "https://pebble:14000/dir"\nacme_ca_file = "${CA_FILE}"\n`,
    });
  }

  async dispose(): Promise<void> {
    await docker(['rm', '--force', '--volumes', this.#id]);
  }
}

const rootOf = async (address: string): Promise<string> => {
  const deadline = performance.now() + 10_000;
  for (;;) {
    try {
      return await (await fetch(`https://${address}:15000/roots/0`, { tls: { rejectUnauthorized: false } })).text();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await Bun.sleep(50);
  }
};
