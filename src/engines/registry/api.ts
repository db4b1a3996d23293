import { createHash } from 'node:crypto';
import { BerthError } from '#kernel/errors';
import { createWire, unexpected, type Wire } from './wire.ts';

/** A registry on loopback that lives answers in milliseconds. */
const ALIVE_MS = 2000;

export interface Descriptor {
  digest: string;
  size: number;
}

/** An image manifest, or an index of them, as far as berth reads it. */
export interface Manifest {
  config?: Descriptor;
  layers?: Descriptor[];
  manifests?: Descriptor[];
}

/** The part of the registry's HTTP interface that berth uses (OCI distribution specification). */
export interface RegistryApi extends Manifests, Blobs {
  /** Whether the registry answers. */
  answers(): Promise<boolean>;
  /** Bytes of the layers and configs of an image. */
  imageBytes(repository: string, digest: string): Promise<number>;
}

interface Manifests {
  /** The digest behind a tag or digest; undefined when there is none. */
  resolve(repository: string, reference: string): Promise<string | undefined>;
  manifest(repository: string, digest: string): Promise<{ manifest: Manifest; mediaType: string }>;
  /** Stores a manifest without a tag. */
  putManifest(repository: string, manifest: Manifest, mediaType: string): Promise<Descriptor>;
  /** Removes a manifest and its tags; fine when it is gone. */
  remove(repository: string, digest: string): Promise<void>;
}

interface Blobs {
  /** The text of a small blob, such as the config of an image. */
  blobText(repository: string, digest: string): Promise<string>;
  putBlob(repository: string, text: string): Promise<Descriptor>;
  /** Takes a blob away from a repository; fine when it is gone. Its bytes stay on disk until a collection. */
  removeBlob(repository: string, digest: string): Promise<void>;
}

export const createRegistryApi = (port: number): RegistryApi => {
  const wire = createWire(port);
  const manifests = manifestCalls(wire);

  const imageBytes = async (repository: string, digest: string): Promise<number> => {
    const { config, layers = [], manifests: inner = [] } = (await manifests.manifest(repository, digest)).manifest;
    const own = [...layers, ...(config === undefined ? [] : [config])].reduce((sum, { size }) => sum + size, 0);
    const below = await Promise.all(inner.map((each) => imageBytes(repository, each.digest)));
    return below.reduce((sum, bytes) => sum + bytes, own);
  };

  return {
    answers: async () => {
      try {
        return (await wire.ask('GET', '', { deadlineMs: ALIVE_MS })).ok;
      } catch (thrown) {
        if (thrown instanceof BerthError) return false;
        throw thrown;
      }
    },
    imageBytes,
    ...manifests,
    ...blobCalls(wire),
  };
};

const manifestCalls = (wire: Wire): Manifests => ({
  resolve: async (repository, reference) => {
    const answer = await wire.ask('HEAD', `${repository}/manifests/${reference}`);
    if (answer.status === 404) return undefined;
    const digest = answer.headers.get('docker-content-digest');
    if (!answer.ok || digest === null) throw unexpected(answer);
    return digest;
  },
  manifest: async (repository, digest) => {
    const answer = await wire.expect('GET', `${repository}/manifests/${digest}`);
    return { manifest: (await answer.json()) as Manifest, mediaType: answer.headers.get('content-type') ?? '' };
  },
  putManifest: async (repository, manifest, mediaType) => {
    const body = JSON.stringify(manifest);
    const descriptor = describe(body);
    await wire.expect('PUT', `${repository}/manifests/${descriptor.digest}`, { body, type: mediaType });
    return descriptor;
  },
  remove: (repository, digest) => wire.delete(`${repository}/manifests/${digest}`),
});

const blobCalls = (wire: Wire): Blobs => ({
  blobText: async (repository, digest) => (await wire.expect('GET', `${repository}/blobs/${digest}`)).text(),
  putBlob: async (repository, text) => {
    const descriptor = describe(text);
    const opened = await wire.expect('POST', `${repository}/blobs/uploads/`);
    const location = opened.headers.get('location');
    if (location === null) throw unexpected(opened);
    const target = new URL(location, opened.url);
    target.searchParams.set('digest', descriptor.digest);
    await wire.expect('PUT', target.href, { body: text, type: 'application/octet-stream' });
    return descriptor;
  },
  removeBlob: (repository, digest) => wire.delete(`${repository}/blobs/${digest}`),
});

const describe = (text: string): Descriptor => ({
  digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
  size: Buffer.byteLength(text),
});
