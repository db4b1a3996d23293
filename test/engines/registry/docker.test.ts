import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ARGUMENT, pushRedacted, pushWith, registryContract } from '#test/contracts/registry.ts';
import { createRegistryApi, type Manifest } from '#engines/registry/api';
import { dataDir } from '#engines/registry/container';
import { redactHistory } from '#engines/registry/redact';
import { createRegistryStorage } from '#engines/registry/storage';
import { docker } from '#test/support/docker.ts';
import { type Lab, openLab } from './support.ts';

setDefaultTimeout(60_000);

registryContract('registry:3 in Docker', async () => {
  const lab = await openLab();
  let thief: ReturnType<typeof Bun.serve> | undefined;
  return {
    registry: lab.registry,
    makeImage: (content, argument) =>
      argument === undefined ? lab.makeImage(content) : lab.makeImageWithArgument(content, argument),
    historyOf: async (repository, digest) =>
      JSON.stringify((await storedConfig(lab, repository, digest)).history.map((entry) => entry.created_by)),
    fetch: async (reference) => void (await lab.runtime.ensureImage(reference)),
    isLocal: async (reference) => (await lab.runtime.inspectImage(reference)) !== undefined,
    // Somebody else holds its port.
    breakDown: async () => {
      await docker(['rm', '-f', lab.place.name]);
      thief = Bun.serve({
        hostname: '127.0.0.1',
        port: lab.place.port,
        fetch: () => new Response('no', { status: 503 }),
      });
    },
    cleanUp: async () => {
      await thief?.stop(true);
      await lab.close();
    },
  };
});

describe('the registry in Docker', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await openLab();
    await lab.registry.ensure();
  });
  afterEach(() => lab.close());

  const idOf = async (): Promise<string> => (await lab.runtime.list(lab.place.labels))[0]?.id ?? 'none';

  test('is hardened, and published on loopback only', async () => {
    const [found] = JSON.parse(await docker(['inspect', lab.place.name])) as [
      { HostConfig: Record<string, unknown>; Config: Record<string, unknown> },
    ];
    expect(found.HostConfig).toMatchObject({
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      Privileged: false,
      SecurityOpt: ['no-new-privileges:true'],
      Memory: 256 * 1024 * 1024,
      PidsLimit: 256,
      NetworkMode: lab.place.network.name,
      PortBindings: { '5000/tcp': [{ HostIp: '127.0.0.1', HostPort: String(lab.place.port) }] },
    });
    expect(found.Config['User']).toBe('65532:65532');
  });

  test('is out of reach of build steps, at its address and at the host', async () => {
    const reach = (host: string, port: number): string =>
      `timeout 2 bash -c "</dev/tcp/${host}/${port}" && echo REACHED`;
    const { registry } = lab.place.addresses;
    const out = await docker([
      'run', '--rm', '--network', 'bridge', 'debian:trixie-slim', 'bash', '-c',
      `${reach(registry, 5000)}; ${reach('172.17.0.1', lab.place.port)}; ${reach(lab.place.network.gateway, lab.place.port)}; echo asked`,
    ]); // prettier-ignore
    expect(out.trim()).toBe('asked');
  });

  test('stays the same container when nothing changed, and is made anew when its specification did', async () => {
    const first = await idOf();
    await lab.again().ensure();
    expect(await idOf()).toBe(first);
    const { digest } = await pushWith(lab.registry, await lab.makeImage('kept'), 'shop/web');
    const changed = lab.again({ user: '65533:65533' });
    await docker([
      'run',
      '--rm',
      '-v',
      `${lab.place.dir}:/d`,
      'debian:trixie-slim',
      'chown',
      '-R',
      '65533:65533',
      '/d/data',
    ]);
    await changed.ensure();
    expect(await idOf()).not.toBe(first);
    expect(await changed.exists('shop/web', digest)).toBe(true);
  });

  test('starts for its own user under a strict umask of berth, too', async () => {
    await docker(['rm', '-f', lab.place.name]);
    await rm(join(lab.place.dir, 'config'), { recursive: true });
    const before = process.umask(0o077);
    try {
      await lab.again().ensure();
    } finally {
      process.umask(before);
    }
    expect((await stat(join(lab.place.dir, 'config/config.yml'))).mode & 0o777).toBe(0o644);
  });

  test('comes back when it was stopped or killed, and a push brings it back by itself', async () => {
    await docker(['stop', '-t', '1', lab.place.name]);
    await lab.registry.ensure();
    await docker(['rm', '-f', lab.place.name]);
    const { digest } = await pushWith(lab.registry, await lab.makeImage('x'), 'shop/web');
    expect(await lab.registry.exists('shop/web', digest)).toBe(true);
  });

  test('gets another network when somebody else took its own while it was not there', async () => {
    const { digest } = await pushWith(lab.registry, await lab.makeImage('x'), 'shop/web');
    await docker(['rm', '-f', lab.place.name]);
    await docker(['network', 'rm', lab.place.network.name]);
    const label = `berth.test=${lab.prefix}`;
    const thief = `${lab.prefix}-thief`;
    await docker(['network', 'create', '--label', label, '--subnet', lab.place.network.subnet, thief]);
    try {
      await lab.registry.ensure();
      expect(await lab.registry.exists('shop/web', digest)).toBe(true);
      await lab.registry.collectGarbage();
    } finally {
      await docker(['rm', '-f', lab.place.name]);
      await docker(['network', 'rm', thief, lab.place.network.name]);
      await lab.again().ensure();
    }
  });

  test.each([
    ['paused', ['pause']],
    ['hung', ['kill', '--signal', 'STOP']],
  ])(
    'is replaced when it is %s',
    async (_how, verb) => {
      await docker([...verb, lab.place.name]);
      const { digest } = await pushWith(lab.registry, await lab.makeImage('x'), 'shop/web');
      expect(await lab.registry.exists('shop/web', digest)).toBe(true);
    },
    40_000,
  );

  test('a collector that outlived its berth is removed before anything is pushed', async () => {
    const name = `${lab.place.name}-collector`;
    const label = `berth.test=${lab.prefix}`;
    await docker([
      'run',
      '-d',
      '--name',
      name,
      '--label',
      label,
      '--label',
      'berth.role=registry-collector',
      'debian:trixie-slim',
      'sleep',
      '300',
    ]);
    await lab.again().ensure();
    expect(await docker(['ps', '-aq', '--filter', `name=${name}`])).toBe('');
  });

  test('a base image is seeded once, and apps on it share its layers instead of uploading them', async () => {
    const base = await lab.makeImage('the base', 'scratch', 3_000_000);
    const signal = new AbortController().signal;
    await lab.registry.seed(base, signal);
    const afterSeed = await lab.registry.diskBytes();
    await lab.registry.seed(base, signal);
    const lines: string[] = [];
    await pushWith(lab.registry, await lab.makeImage('the app', base), 'shop/web', lines);
    expect(lines.filter((line) => line.endsWith('shared with another image'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('pushed'))).toHaveLength(1);
    expect((await lab.registry.diskBytes()) - afterSeed).toBeLessThan(1_000_000);
  });

  test('a redacted value is in no file of the registry and in no history of Docker, and only the config is fetched', async () => {
    const image = await lab.makeImageWithArgument('told', ARGUMENT);
    const pushed = await pushRedacted(lab.registry, image, 'shop/web', [ARGUMENT]);
    expect(await filesWith(lab, 'second-line')).toEqual([]);
    const reference = lab.registry.reference('shop/web', pushed.digest);
    const begun = performance.now();
    await lab.runtime.ensureImage(reference);
    expect(performance.now() - begun).toBeLessThan(1000);
    await docker(['rmi', image]);
    const told = await docker(['history', '--no-trunc', '--format', '{{.CreatedBy}}', reference]);
    expect(told).toContain('[secret]');
    const [before, after] = [await docker(['run', '--rm', reference, 'cat', '/argument']), ARGUMENT];
    expect(before).toBe(after);
    const inspected = await docker(['image', 'ls', '-aq', '--no-trunc', '--filter', `label=berth.test=${lab.prefix}`]);
    for (const id of inspected.split('\n').filter((line) => line !== '')) {
      expect(await docker(['history', '--no-trunc', id])).not.toContain('second-line');
    }
  });

  test('a push with something to redact that is broken off takes back what Docker had stored already', async () => {
    const image = await lab.makeImageWithArgument('broken off', ARGUMENT);
    await pushWith(lab.registry, image, 'shop/broken-off');
    expect(await filesWith(lab, 'second-line')).toHaveLength(1);
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error('cancelled')), 1);
    const push = lab.registry.push({
      localRef: image,
      repository: 'shop/broken-off',
      signal: abort.signal,
      onLog: () => undefined,
      redact: [ARGUMENT],
    });
    expect(await push.catch((thrown: unknown) => thrown)).toEqual(new Error('cancelled'));
    expect(await filesWith(lab, 'second-line')).toEqual([]);
  });

  test('an index of images is redacted through to its images', async () => {
    const image = await lab.makeImageWithArgument('in an index', ARGUMENT);
    const plain = await pushWith(lab.registry, image, 'shop/index');
    const api = createRegistryApi(lab.place.port);
    const inner = { ...(await api.manifest('shop/index', plain.digest)), digest: plain.digest };
    const size = Buffer.byteLength(JSON.stringify(inner.manifest));
    const type = 'application/vnd.oci.image.index.v1+json';
    const listed = { mediaType: inner.mediaType, digest: inner.digest, size };
    const index: Manifest = Object.assign(
      { schemaVersion: 2, mediaType: type },
      { manifests: [{ ...listed, platform: { os: 'linux' } }] },
    );
    const { digest } = await api.putManifest('shop/index', index, type);
    const storage = createRegistryStorage(dataDir(lab.place.dir));
    const redacted = await redactHistory({ api, storage }, { repository: 'shop/index', digest, values: [ARGUMENT] });
    const { manifest } = await api.manifest('shop/index', redacted);
    expect(manifest.manifests).toHaveLength(1);
    expect(manifest.manifests?.[0]).toMatchObject({ mediaType: inner.mediaType, platform: { os: 'linux' } });
    expect(manifest.manifests?.[0]?.digest).not.toBe(plain.digest);
    const told = await storedConfig(lab, 'shop/index', manifest.manifests?.[0]?.digest ?? '');
    expect(JSON.stringify(told.history)).toContain('[secret]');
    expect(await api.resolve('shop/index', digest)).toBeUndefined();
    expect(await api.resolve('shop/index', plain.digest)).toBeUndefined();
    expect(await filesWith(lab, 'second-line')).toEqual([]);
  });

  test('after its last repository is gone, a collection frees everything', async () => {
    const { digest } = await pushWith(lab.registry, await lab.makeImage('x'), 'shop/web');
    await lab.registry.removeRepository('shop/web');
    await lab.registry.collectGarbage();
    expect(await lab.registry.exists('shop/web', digest)).toBe(false);
    expect(await readdir(join(lab.place.dir, 'data/docker/registry/v2/repositories'))).toEqual([]);
    expect(await lab.registry.diskBytes()).toBeLessThan(100_000);
  });

  test('a collection that fails says why and leaves no container', async () => {
    await pushWith(lab.registry, await lab.makeImage('x'), 'shop/web');
    const other = lab.again({ user: '1234:1234' });
    const outcome: unknown = await other.collectGarbage().catch((thrown: unknown) => thrown);
    expect(outcome).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
    expect(String(outcome)).toContain('the collection failed');
    expect(await docker(['ps', '-aq', '--filter', `name=${lab.place.name}-collector`])).toBe('');
  });
});

interface StoredConfig {
  history: { created_by?: string }[];
}

const storedConfig = async ({ place }: Lab, repository: string, digest: string): Promise<StoredConfig> => {
  const api = createRegistryApi(place.port);
  const { manifest } = await api.manifest(repository, digest);
  return JSON.parse(await api.blobText(repository, manifest.config?.digest ?? '')) as StoredConfig;
};

/** Files of the registry that hold the text; the layers are compressed, but what the builder says of itself is not. */
const filesWith = async ({ place }: Lab, text: string): Promise<string[]> => {
  const found: string[] = [];
  for (const name of await readdir(place.dir, { recursive: true, withFileTypes: true })) {
    if (name.isFile() && (await Bun.file(join(name.parentPath, name.name)).text()).includes(text))
      found.push(name.name);
  }
  return found;
};
