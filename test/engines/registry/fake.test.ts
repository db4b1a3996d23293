import { registryContract } from '#test/contracts/registry.ts';
import { createFakeRegistry } from '#test/fakes/registry.ts';

registryContract('the fake', () => {
  const registry = createFakeRegistry();
  return Promise.resolve({
    registry,
    makeImage: (content, argument = '') => {
      const name = `berth-test/${content.replaceAll(' ', '-')}:1`;
      registry.local.set(name, 1000 + content.length);
      registry.history.set(name, `RUN |1 ARGUMENT=${argument} /bin/sh -c true`);
      return Promise.resolve(name);
    },
    historyOf: (repository, digest) =>
      registry.images.get(repository)?.has(digest) === true
        ? Promise.resolve(registry.stored.get(digest) ?? '')
        : Promise.reject(new Error('it is not stored')),
    fetch: (reference) => Promise.resolve(void registry.localNames.add(reference)),
    isLocal: (reference) => Promise.resolve(registry.localNames.has(reference)),
    breakDown: () => {
      registry.broken = true;
      return Promise.resolve();
    },
    cleanUp: () => Promise.resolve(),
  });
});
