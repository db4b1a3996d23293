import { type Connection, createConnection } from '#engines/docker/connection';
import type { Runtime } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import { invalidInput, messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';
import { createRegistryApi, type RegistryApi } from './api.ts';
import { dataDir, type RegistryNetwork, type RegistryPlace } from './container.ts';
import { createGate, type Gate } from './gate.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import type { PushedImage, PushRequest, Registry } from './port.ts';
import { pushByEngine, pushFailed } from './push.ts';
import { redactHistory } from './redact.ts';
import { createRegistryStorage, type RegistryStorage } from './storage.ts';

export interface DockerRegistryOptions {
  socketPath: string;
  runtime: Runtime;
  place: RegistryPlace;
  /** Another network, when somebody else took the place's own while it was not there; undefined when there is no other. */
  otherNetwork: () => Promise<RegistryNetwork | undefined>;
  clock: Clock;
  log: Log;
}

export interface DockerRegistry extends Registry {
  /**
   * Pushes a base image once, as `base/<name>`, so that apps on top of it share its layers instead of compressing and
   * uploading them again. Does nothing when it is there.
   */
  seed(localRef: string, signal: AbortSignal): Promise<void>;
}

/** The `registry:3` container on the host's loopback, pushed to through Docker. */
export const createDockerRegistry = (options: DockerRegistryOptions): DockerRegistry => {
  const { runtime, place, log } = options;
  const parts: Parts = {
    ...options,
    connection: createConnection(options),
    api: createRegistryApi(place.port),
    storage: createRegistryStorage(dataDir(place.dir)),
    gate: createGate(),
    nameOf: (repository) => `127.0.0.1:${place.port}/${checked(repository)}`,
  };
  const { api, storage, gate, nameOf } = parts;
  const lifecycle = createLifecycle({ ...options, api });
  const push = async (request: PushRequest): Promise<PushedImage> => {
    const name = nameOf(request.repository);
    return gate.shared(() => pushImage({ ...parts, lifecycle }, name, request), request.signal);
  };

  return {
    ensure: () => lifecycle.ensure(),
    push,
    reference: (repository, digest) => `${nameOf(repository)}@${digest}`,
    exists: async (repository, digest) => (await api.resolve(checked(repository), digest)) !== undefined,
    remove: (repository, digest) =>
      gate.shared(async () => {
        await api.remove(checked(repository), digest);
        await forgetLocally(parts, repository, digest);
      }),
    removeRepository: (repository) =>
      gate.alone(async () => {
        for (const digest of await storage.digests(checked(repository))) await forgetLocally(parts, repository, digest);
        await storage.dropRepository(repository);
      }),
    collectGarbage: () =>
      gate.alone(async () => {
        if (await storage.isEmpty()) return;
        const before = await storage.diskBytes();
        await lifecycle.collect();
        log.info('collected the garbage of the image registry', { freedBytes: before - (await storage.diskBytes()) });
      }),
    diskBytes: () => storage.diskBytes(),
    seed: async (localRef, signal) => {
      const repository = `base/${baseName(localRef)}`;
      const known = await api.resolve(repository, await imageTag(runtime, localRef));
      if (known !== undefined) return;
      const { digest } = await push({ localRef, repository, signal, onLog: () => undefined });
      const stale = (await storage.digests(repository)).filter((each) => each !== digest);
      for (const each of stale) await gate.shared(() => api.remove(repository, each));
    },
  };
};

interface Parts extends DockerRegistryOptions {
  connection: Connection;
  api: RegistryApi;
  storage: RegistryStorage;
  gate: Gate;
  nameOf: (repository: string) => string;
}

const pushImage = async (
  parts: Parts & { lifecycle: Lifecycle },
  name: string,
  request: PushRequest,
): Promise<PushedImage> => {
  const { api, runtime, connection, clock, lifecycle } = parts;
  const { localRef, repository, signal, onLog } = request;
  try {
    if (!(await api.answers())) await lifecycle.ensure();
    const tag = await imageTag(runtime, localRef);
    await runtime.tagImage(localRef, `${name}:${tag}`);
    const pushed = await pushByEngine(connection, clock, { name, tag, signal, onLog });
    const digest = await redacted(parts, request, pushed);
    return { digest, sizeBytes: await api.imageBytes(repository, digest), redacted: digest !== pushed };
  } catch (thrown) {
    if ((request.redact ?? []).length > 0) await withdraw(parts, name, request);
    if (signal.aborted) throw signal.reason;
    throw pushFailed(repository, thrown);
  }
};

/** Takes back what of an image may have been stored before a push failed, when its history must not stay. */
const withdraw = async (parts: Parts, name: string, { localRef, repository }: PushRequest): Promise<void> => {
  const { api, runtime, storage, log } = parts;
  try {
    const image = await runtime.inspectImage(localRef);
    if (image === undefined) return;
    const digest = await api.resolve(repository, tagOf(image.id));
    if (digest !== undefined) await api.remove(repository, digest);
    // Docker names an image by its config.
    await api.removeBlob(repository, image.id);
    await storage.dropBlob(image.id);
    await runtime.removeImage(`${name}:${tagOf(image.id)}`);
  } catch (thrown) {
    log.warn('cannot take back a failed push; the next one of this image does', {
      repository,
      reason: messageOf(thrown),
    });
  }
};

/** The digest to use instead of the one pushed. Takes milliseconds, and is not broken off half-way by an abort. */
const redacted = async (parts: Parts, { repository, redact = [] }: PushRequest, pushed: string): Promise<string> => {
  if (redact.length === 0) return pushed;
  const digest = await redactHistory(parts, { repository, digest: pushed, values: redact });
  if (digest !== pushed) await forgetLocally(parts, repository, pushed);
  return digest;
};

/** Takes away the names that a push gave the image in Docker; layers go when nothing else uses them. */
const forgetLocally = async ({ runtime, nameOf }: Parts, repository: string, digest: string): Promise<void> => {
  const name = nameOf(repository);
  const image = await runtime.inspectImage(`${name}@${digest}`);
  if (image === undefined) return;
  await runtime.removeImage(`${name}:${tagOf(image.id)}`);
  await runtime.removeImage(`${name}@${digest}`);
};

/** A name of its own for every image, so that no push takes the tag away from an older release. */
const imageTag = async (runtime: Runtime, localRef: string): Promise<string> => {
  const image = await runtime.inspectImage(localRef);
  if (image === undefined) throw invalidInput(`there is no local image ${localRef}`, 'build it first');
  return tagOf(image.id);
};

const tagOf = (imageId: string): string => imageId.replace(/^sha256:/, '').slice(0, 24);

/** `node:24-slim` → `node-24-slim`. */
const baseName = (localRef: string): string =>
  localRef
    .toLowerCase()
    .replace(/@.*$/, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

// Names come validated; what goes into a path and a URL is checked here again all the same.
const checked = (repository: string): string => {
  if (/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\/[a-z0-9]+(?:-[a-z0-9]+)*)*$/.test(repository)) return repository;
  throw invalidInput(
    'a repository of the image registry has an invalid name',
    'use lower-case letters, digits and dashes',
  );
};
