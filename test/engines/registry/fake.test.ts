import { registryContract } from '#test/contracts/registry.ts';
import { createFakeRegistry } from '#test/fakes/registry.ts';

registryContract('the fake', () => {
  const registry = createFakeRegistry();
  return Promise.resolve({
    registry,
    makeImage: (content) => {
      const name = `berth-test/${content.replaceAll(' ', '-')}:1`;
      registry.local.set(name, 1000 + content.length);
      return Promise.resolve(name);
    },
    isLocal: (reference) => Promise.resolve(registry.localNames.has(reference)),
    breakDown: () => {
      registry.broken = true;
      return Promise.resolve();
    },
    cleanUp: () => Promise.resolve(),
  });
});
