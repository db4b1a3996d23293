import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { BerthError } from '#kernel/errors';
import type { PushedImage, Registry } from '#engines/registry/port';

export interface RegistryHarness {
  registry: Registry;
  /** Makes a local image with content of its own, built with `argument` as a build argument, and returns its name. */
  makeImage: (content: string, argument?: string) => Promise<string>;
  /** What the history of a stored image says. */
  historyOf: (repository: string, digest: string) => Promise<string>;
  /** Has the engine pull the image. */
  fetch: (reference: string) => Promise<void>;
  /** Whether the engine can still run the image by this reference. */
  isLocal: (reference: string) => Promise<boolean>;
  /** Puts the registry out of order. */
  breakDown: () => Promise<void>;
  cleanUp: () => Promise<void>;
}

/** Pushes an image, and collects what is said. */
export const pushWith = (
  registry: Registry,
  localRef: string,
  repository: string,
  lines: string[] = [],
): Promise<PushedImage> =>
  registry.push({ localRef, repository, signal: new AbortController().signal, onLog: (line) => lines.push(line) });

export const pushRedacted = (
  registry: Registry,
  localRef: string,
  repository: string,
  redact: string[],
): Promise<PushedImage> =>
  registry.push({ localRef, repository, signal: new AbortController().signal, onLog: () => undefined, redact });

/** A value that is written differently in JSON than it is. */
export const ARGUMENT = 'Zq7 "marked" <&> \\ ü-93xV\nsecond-line-of-it';

/** Holds an implementation of the port to its contract. One registry serves all tests, each with its own repository. */
export const registryContract = (name: string, boot: () => Promise<RegistryHarness>): void => {
  describe(`registry contract: ${name}`, () => {
    let harness: RegistryHarness;
    let registry: Registry;
    beforeAll(async () => {
      harness = await boot();
      ({ registry } = harness);
      await registry.ensure();
    });
    afterAll(() => harness.cleanUp());

    test('ensure may be called again and again', async () => {
      await Promise.all([registry.ensure(), registry.ensure()]);
      await registry.ensure();
    });

    test('a push gives the digest and size of the manifest, and the same one when repeated', async () => {
      const image = await harness.makeImage('one');
      const first = await pushWith(registry, image, 'shop/web');
      expect(first.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(first.sizeBytes).toBeGreaterThan(0);
      expect(await pushWith(registry, image, 'shop/web')).toEqual(first);
      expect(await registry.exists('shop/web', first.digest)).toBe(true);
      expect(await harness.isLocal(registry.reference('shop/web', first.digest))).toBe(true);
    });

    test('an image exists in the repository that it was pushed to, and nowhere else', async () => {
      const { digest } = await pushWith(registry, await harness.makeImage('two'), 'blog/web');
      expect(await registry.exists('shop/api', digest)).toBe(false);
      expect(await registry.exists('blog/web', `sha256:${'0'.repeat(64)}`)).toBe(false);
    });

    test('removing is idempotent, leaves other releases, and takes the local name away', async () => {
      const old = await pushWith(registry, await harness.makeImage('old'), 'del/web');
      const current = await pushWith(registry, await harness.makeImage('current'), 'del/web');
      await registry.remove('del/web', old.digest);
      await registry.remove('del/web', old.digest);
      await registry.remove('never/there', old.digest);
      expect(await registry.exists('del/web', old.digest)).toBe(false);
      expect(await registry.exists('del/web', current.digest)).toBe(true);
      expect(await harness.isLocal(registry.reference('del/web', old.digest))).toBe(false);
      expect(await harness.isLocal(registry.reference('del/web', current.digest))).toBe(true);
    });

    test('removing a repository removes all of its images, those of its neighbours stay', async () => {
      const images = await Promise.all(['r1', 'r2'].map((content) => harness.makeImage(content)));
      const pushed = [];
      for (const image of images) pushed.push(await pushWith(registry, image, 'gone/web'));
      const neighbour = await pushWith(registry, images[0] ?? '', 'gone/web-2');
      await registry.removeRepository('gone/web');
      await registry.removeRepository('gone/web');
      for (const { digest } of pushed) expect(await registry.exists('gone/web', digest)).toBe(false);
      expect(await registry.exists('gone/web-2', neighbour.digest)).toBe(true);
    });

    test('a collection frees what nothing refers to, keeps what is kept, and pushes go on after it', async () => {
      const kept = await pushWith(registry, await harness.makeImage('kept'), 'gc/web');
      const image = await harness.makeImage(`freed ${'x'.repeat(100)}`);
      const freed = await pushWith(registry, image, 'gc/web');
      await registry.remove('gc/web', freed.digest);
      const before = await registry.diskBytes();
      await registry.collectGarbage();
      expect(await registry.diskBytes()).toBeLessThan(before);
      expect(await registry.exists('gc/web', kept.digest)).toBe(true);
      expect(await pushWith(registry, image, 'gc/web')).toEqual(freed);
      expect(await registry.exists('gc/web', freed.digest)).toBe(true);
    });

    test('a value to redact is in no history that is stored, and the image runs by the reference returned', async () => {
      const image = await harness.makeImage('redacted', ARGUMENT);
      const pushed = await pushRedacted(registry, image, 'red/web', ['not-in-there', ARGUMENT]);
      expect(pushed.redacted).toBe(true);
      const history = await harness.historyOf('red/web', pushed.digest);
      expect(history).toContain('[secret]');
      for (const part of ['marked', '93xV', 'second-line']) expect(history).not.toContain(part);
      const reference = registry.reference('red/web', pushed.digest);
      expect(await harness.isLocal(reference)).toBe(false);
      await harness.fetch(reference);
      expect(await harness.isLocal(reference)).toBe(true);
      await registry.collectGarbage();
      expect(await pushRedacted(registry, image, 'red/web', [ARGUMENT])).toEqual(pushed);
      expect(await harness.historyOf('red/web', pushed.digest)).toBe(history);
    });

    test('nothing is rewritten when no value is in the history', async () => {
      const image = await harness.makeImage('plain', 'an-ordinary-argument');
      const plain = await pushWith(registry, image, 'plain/web');
      expect(plain.redacted).toBe(false);
      expect(await pushRedacted(registry, image, 'plain/web', ['another-value'])).toEqual(plain);
      expect(await harness.historyOf('plain/web', plain.digest)).toContain('an-ordinary-argument');
    });

    test('redacting in one repository leaves the same image of another as it is', async () => {
      const image = await harness.makeImage('twice', ARGUMENT);
      const kept = await pushWith(registry, image, 'kept/web');
      const pushed = await pushRedacted(registry, image, 'red/api', [ARGUMENT]);
      expect(pushed.digest).not.toBe(kept.digest);
      expect(await registry.exists('red/api', kept.digest)).toBe(false);
      expect(await harness.historyOf('kept/web', kept.digest)).toContain('second-line');
      await registry.remove('red/api', pushed.digest);
      expect(await harness.historyOf('kept/web', kept.digest)).toContain('second-line');
    });

    test('pushes and collections at the same time do each other no harm', async () => {
      const images = await Promise.all(['c1', 'c2', 'c3'].map((content) => harness.makeImage(content)));
      const work = images.map((image, index) => pushWith(registry, image, `many/web-${index}`));
      const collected = registry.collectGarbage();
      const late = pushWith(registry, images[0] ?? '', 'many/late');
      const pushed = await Promise.all([...work, late]);
      await collected;
      for (const [index, { digest }] of pushed.slice(0, 3).entries()) {
        expect(await registry.exists(`many/web-${index}`, digest)).toBe(true);
      }
      expect(await registry.exists('many/late', pushed[3]?.digest ?? '')).toBe(true);
    });

    test('a push of an image that is not there is a retryable IMAGE_PUSH_FAILED', async () => {
      expect(await failure(pushWith(registry, 'berth-test/missing:1', 'shop/web'))).toMatchObject({
        kind: 'IMAGE_PUSH_FAILED',
        retryable: true,
      });
    });

    test('an aborted push rejects with the reason', async () => {
      const push = registry.push({
        localRef: await harness.makeImage('aborted'),
        repository: 'shop/web',
        signal: AbortSignal.abort(new Error('cancelled')),
        onLog: () => undefined,
      });
      expect(await push.catch((thrown: unknown) => thrown)).toEqual(new Error('cancelled'));
    });

    test('a name that could leave its place is refused', async () => {
      const image = await harness.makeImage('one');
      for (const repository of ['../x', 'a/../b', '/a', 'a//b', 'a/', 'a b', 'A', 'a?b', 'a:b', '']) {
        const refused = await failure(pushWith(registry, image, repository));
        expect(refused.kind).toBe('INVALID_INPUT');
      }
    });

    test('a push while the registry is broken is a retryable IMAGE_PUSH_FAILED', async () => {
      const image = await harness.makeImage('unlucky');
      await harness.breakDown();
      expect(await failure(pushWith(registry, image, 'shop/web'))).toMatchObject({
        kind: 'IMAGE_PUSH_FAILED',
        retryable: true,
      });
    });
  });
};

const failure = async (push: Promise<PushedImage>): Promise<BerthError> => {
  const thrown: unknown = await push.then(
    () => new Error('the push succeeded'),
    (error: unknown) => error,
  );
  if (!(thrown instanceof BerthError)) throw thrown;
  return thrown;
};
