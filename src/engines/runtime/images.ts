import type Docker from 'dockerode';
import { BerthError, conflict, invalidInput, notFound } from '#kernel/errors';
import { type Connection, get } from '#engines/docker/connection';
import { statusOf } from '#engines/docker/failures';
import type { ImageInfo, Runtime } from './port.ts';

const PULL_DEADLINE_MS = 600_000;

type ImageCalls = Pick<
  Runtime,
  'inspectImage' | 'ensureImage' | 'pullImage' | 'tagImage' | 'imageNames' | 'removeImage'
>;

export const imageCalls = ({ call }: Connection): ImageCalls => {
  const inspect = (ref: string, signal?: AbortSignal): Promise<ImageInfo | undefined> =>
    call(
      `inspect image ${ref}`,
      async (docker, abortSignal) => {
        try {
          return toInfo(
            await get<Docker.ImageInspectInfo>(docker, `/images/${path(ref)}/json`, { signal: abortSignal }),
          );
        } catch (error) {
          if (statusOf(error) === 404) return undefined;
          throw error;
        }
      },
      { signal },
    );

  const pull = async (ref: string, signal?: AbortSignal): Promise<ImageInfo> => {
    await call(
      `pull image ${ref}`,
      async (docker, abortSignal) => {
        const { repo, tag } = splitRef(ref);
        try {
          await drain(await docker.createImage({ fromImage: repo, tag: tag ?? 'latest', abortSignal }), ref);
        } catch (error) {
          if (statusOf(error) === 404) throw imageMissing(ref, error);
          throw error;
        }
      },
      { deadlineMs: PULL_DEADLINE_MS, signal },
    );
    const pulled = await inspect(ref, signal);
    if (pulled === undefined) throw conflict(`image ${ref} vanished right after its pull`, 'retry', true);
    return pulled;
  };

  return {
    inspectImage: (ref) => inspect(ref),
    ensureImage: async (ref, signal) => (await inspect(ref, signal)) ?? (await pull(ref, signal)),
    pullImage: pull,
    tagImage: (ref, target) =>
      call(`tag image ${ref} as ${target}`, async (docker, abortSignal) => {
        const { repo, tag } = splitRef(target);
        if (tag?.includes(':')) throw invalidInput(`${target} names a digest`, 'give a name and a tag');
        await image(docker, ref).tag({ repo, tag: tag ?? 'latest', abortSignal });
      }),
    imageNames: (prefix) =>
      call('list images', async (docker, abortSignal) => {
        const found = await docker.listImages({ abortSignal });
        return found.flatMap(({ RepoTags }) => RepoTags ?? []).filter((name) => name.startsWith(prefix));
      }),
    removeImage: (ref) =>
      call(`remove image ${ref}`, async (docker, abortSignal) => {
        try {
          await image(docker, ref).remove({ abortSignal });
        } catch (error) {
          // 404: gone; 409: a container uses it.
          if (![404, 409].includes(statusOf(error) ?? 0)) throw error;
        }
      }),
  };
};

/** `host:5000/name:tag` → repository and tag; `name@sha256:…` has its digest for a tag, as Docker's pull wants it. */
export const splitRef = (ref: string): { repo: string; tag?: string } => {
  const at = ref.indexOf('@');
  if (at >= 0) return { repo: ref.slice(0, at).replace(/:[^:/]*$/, ''), tag: ref.slice(at + 1) };
  const colon = ref.lastIndexOf(':');
  return colon > ref.lastIndexOf('/') ? { repo: ref.slice(0, colon), tag: ref.slice(colon + 1) } : { repo: ref };
};

/** The slashes of a reference are part of Docker's path; nothing else may be. */
const path = (ref: string): string => ref.split('/').map(encodeURIComponent).join('/');

const image = (docker: Docker, ref: string): Docker.Image => docker.getImage(path(ref));

/** Reads a pull's progress to its end: Docker reports failures inside the stream, after a 200. */
const drain = async (progress: AsyncIterable<string | Uint8Array>, ref: string): Promise<void> => {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of progress) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') assertNoError(line, ref);
  }
  if (rest.trim() !== '') assertNoError(rest, ref);
};

const assertNoError = (line: string, ref: string): void => {
  const { error } = JSON.parse(line) as { error?: string };
  if (error === undefined) return;
  if (/not found|manifest unknown|does not exist|denied/i.test(error)) throw imageMissing(ref, new Error(error));
  throw new BerthError('INTERNAL_ERROR', `Docker could not pull image ${ref}: ${error}`, {
    hint: 'check the network of the server and the image registry, then retry',
    retryable: true,
  });
};

const imageMissing = (ref: string, cause: unknown): BerthError => {
  const said = cause instanceof Error ? cause.message : String(cause);
  return notFound(`image ${ref} can neither be found here nor pulled: ${said.trim()}`, 'check the name of the image');
};

const toInfo = (found: Docker.ImageInspectInfo): ImageInfo => ({
  id: found.Id,
  sizeBytes: found.Size,
  exposedPorts: Object.keys(found.Config.ExposedPorts ?? {}).map((port) => Number.parseInt(port, 10)),
  repoDigests: found.RepoDigests ?? [],
  user: found.Config.User ?? '',
  entrypoint: toList(found.Config.Entrypoint),
  command: found.Config.Cmd ?? [],
});

const toList = (value: string | string[] | undefined | null): string[] =>
  typeof value === 'string' ? [value] : (value ?? []);
