import { BerthError, messageOf } from '#kernel/errors';

const DEADLINE_MS = 15_000;
/** A registry on loopback that lives answers in milliseconds. */
const ALIVE_MS = 2000;
const ACCEPT = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

interface Descriptor {
  digest: string;
  size: number;
}

interface Manifest {
  config?: Descriptor;
  layers?: Descriptor[];
  manifests?: Descriptor[];
}

/** The part of the registry's HTTP interface that berth uses (OCI distribution specification). */
export interface RegistryApi {
  /** Whether the registry answers. */
  answers(): Promise<boolean>;
  /** The digest behind a tag or digest; undefined when there is none. */
  resolve(repository: string, reference: string): Promise<string | undefined>;
  /** Removes a manifest; fine when it is gone. */
  remove(repository: string, digest: string): Promise<void>;
  /** Bytes of the layers and configs of an image. */
  imageBytes(repository: string, digest: string): Promise<number>;
}

export const createRegistryApi = (port: number): RegistryApi => {
  const ask = async (method: string, path: string, deadlineMs = DEADLINE_MS): Promise<Response> => {
    try {
      const signal = AbortSignal.timeout(deadlineMs);
      return await fetch(`http://127.0.0.1:${port}/v2/${path}`, { method, headers: { accept: ACCEPT }, signal });
    } catch (thrown) {
      throw away(messageOf(thrown), thrown);
    }
  };
  const manifest = (method: string, repository: string, reference: string): Promise<Response> =>
    ask(method, `${repository}/manifests/${reference}`);

  const imageBytes = async (repository: string, digest: string): Promise<number> => {
    const answer = await manifest('GET', repository, digest);
    if (!answer.ok) throw unexpected(answer);
    const { config, layers = [], manifests = [] } = (await answer.json()) as Manifest;
    const own = [...layers, ...(config === undefined ? [] : [config])].reduce((sum, { size }) => sum + size, 0);
    const inner = await Promise.all(manifests.map((each) => imageBytes(repository, each.digest)));
    return inner.reduce((sum, bytes) => sum + bytes, own);
  };

  return {
    answers: async () => {
      try {
        return (await ask('GET', '', ALIVE_MS)).ok;
      } catch (thrown) {
        if (thrown instanceof BerthError) return false;
        throw thrown;
      }
    },
    resolve: async (repository, reference) => {
      const answer = await manifest('HEAD', repository, reference);
      if (answer.status === 404) return undefined;
      const digest = answer.headers.get('docker-content-digest');
      if (!answer.ok || digest === null) throw unexpected(answer);
      return digest;
    },
    remove: async (repository, digest) => {
      const answer = await manifest('DELETE', repository, digest);
      await answer.body?.cancel();
      if (!answer.ok && answer.status !== 404) throw unexpected(answer);
    },
    imageBytes,
  };
};

const away = (said: string, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `the image registry does not answer: ${said}`, {
    hint: 'retry; if it persists, see: berth doctor',
    retryable: true,
    cause,
  });

const unexpected = (answer: Response): BerthError => away(`status ${answer.status}`, undefined);
