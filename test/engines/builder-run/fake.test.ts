import { builderContract } from '#test/contracts/builder.ts';
import { createFakeBuilder } from '#test/fakes/builder.ts';

builderContract('the fake', () => {
  const builder = createFakeBuilder();
  return Promise.resolve({
    builder,
    baseImage: 'debian:trixie-slim',
    runs: (word) => Promise.resolve([...builder.running].some((command) => command.includes(word))),
    describeImage: (tag) => Promise.resolve(JSON.stringify(builder.images.get(tag)?.labels)),
    prefix: 'fake',
    cleanUp: () => Promise.resolve(),
  });
});
