import { FAILURE_CODE, type Program, runtimeContract, SAID } from '#test/contracts/runtime.ts';
import { createFakeRuntime, type FakeProgram } from '#test/fakes/runtime.ts';

const PROGRAMS: Record<Program, FakeProgram> = {
  idle: {},
  says: { lines: [...SAID], exitCode: 0 },
  fails: { exitCode: FAILURE_CODE },
};
const IMAGE = 'berth-test/base:1';

runtimeContract('the fake', async () => {
  const fake = createFakeRuntime({
    images: [IMAGE],
    program: ({ entrypoint }) => PROGRAMS[entrypoint?.[0] as Program],
  });
  return {
    runtime: fake.as({ 'berth.installation': 'ours' }),
    stranger: fake.as({ 'berth.installation': 'theirs' }),
    image: IMAGE,
    command: (program) => [program],
    prefix: 'fake',
    network: { subnet: '10.222.0.0/24', gateway: '10.222.0.1', bridge: 'brtfake' },
    address: (index) => `10.222.0.${index + 2}`,
    memoryLimit: async (id) => fake.specOf(id).memoryBytes,
    cleanUp: async () => undefined,
  };
});
