import { createHash } from 'node:crypto';
import { BerthError, invalidInput } from '#kernel/errors';
import { createMasker } from '#kernel/mask';
import type { PushRequest, PushedImage, Registry } from '#engines/registry/port';

export interface FakeRegistry extends Registry {
  /** Digest → the history of what is stored. */
  stored: Map<string, string>;
  /** Repository → digests. */
  images: Map<string, Set<string>>;
  /** Names that a push has given in the engine. */
  localNames: Set<string>;
  /** Local images that can be pushed, with their bytes; when it is empty, every image can. */
  local: Map<string, number>;
  /** Local images with what their history says. */
  history: Map<string, string>;
  failNext(error: BerthError): void;
  /** Makes every push fail. */
  broken: boolean;
  collections: number;
}

const HOST = '127.0.0.1:5000';

/** A registry in memory. The digest of an image is made of its local name. */
export const createFakeRegistry = (): FakeRegistry => {
  const images = new Map<string, Set<string>>();
  const localNames = new Set<string>();
  const local = new Map<string, number>();
  const blobs = new Map<string, number>();
  const stored = new Map<string, string>();
  const history = new Map<string, string>();
  let failure: BerthError | undefined;

  const reference = (repository: string, digest: string): string => `${HOST}/${repository}@${digest}`;
  const remove = (repository: string, digest: string): void => {
    images.get(repository)?.delete(digest);
    localNames.delete(reference(repository, digest));
  };
  const digestsOf = (repository: string): Set<string> => {
    const digests = images.get(repository) ?? new Set<string>();
    images.set(repository, digests);
    return digests;
  };

  const push = async ({ localRef, repository, signal, onLog, redact = [] }: PushRequest): Promise<PushedImage> => {
    signal.throwIfAborted();
    if (!/^[a-z0-9-]+(\/[a-z0-9-]+)*$/.test(repository))
      throw invalidInput('the repository has an invalid name', 'use a-z, 0-9, -');
    const planned = failure;
    failure = undefined;
    if (planned !== undefined) throw planned;
    if (fake.broken || (local.size > 0 && !local.has(localRef))) throw pushFailed(localRef);
    await Promise.resolve();
    const told = history.get(localRef) ?? '';
    const hidden = createMasker(redact).mask(told);
    const redacted = hidden !== told;
    const digest = `sha256:${createHash('sha256')
      .update(redacted ? `${localRef} ${hidden}` : localRef)
      .digest('hex')}`;
    digestsOf(repository).add(digest);
    stored.set(digest, hidden);
    if (!redacted) localNames.add(reference(repository, digest));
    blobs.set(digest, local.get(localRef) ?? 1000);
    onLog(`layer ${digest.slice(7, 19)} pushed`);
    return { digest, sizeBytes: blobs.get(digest) ?? 0, redacted };
  };

  const fake: FakeRegistry = {
    ensure: () => Promise.resolve(),
    push,
    reference,
    exists: (repository, digest) => Promise.resolve(images.get(repository)?.has(digest) ?? false),
    remove: (repository, digest) => Promise.resolve(remove(repository, digest)),
    removeRepository: (repository) => {
      for (const digest of images.get(repository) ?? []) remove(repository, digest);
      images.delete(repository);
      return Promise.resolve();
    },
    collectGarbage: () => {
      fake.collections += 1;
      const kept = new Set([...images.values()].flatMap((digests) => [...digests]));
      for (const digest of blobs.keys()) if (!kept.has(digest)) blobs.delete(digest);
      return Promise.resolve();
    },
    diskBytes: () => Promise.resolve([...blobs.values()].reduce((sum, bytes) => sum + bytes, 0)),
    images,
    localNames,
    local,
    history,
    stored,
    failNext: (error) => void (failure = error),
    broken: false,
    collections: 0,
  };
  return fake;
};

const pushFailed = (localRef: string): BerthError =>
  new BerthError('IMAGE_PUSH_FAILED', `the image ${localRef} could not be pushed`, {
    hint: 'retry the deploy',
    retryable: true,
  });
