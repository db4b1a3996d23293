import { setDefaultTimeout } from 'bun:test';
import { FAILURE_CODE, type Program, runtimeContract, SAID } from '#test/contracts/runtime.ts';
import { bash, freeSubnet, IMAGE, openLab } from './support.ts';

// A busy machine may take its time.
setDefaultTimeout(60_000);

const PROGRAMS: Record<Program, string[]> = {
  idle: ['sleep', 'infinity'],
  says: bash(SAID.map(({ stream, line }) => `echo ${line} ${stream === 'stderr' ? '>&2' : ''}`).join('; sleep 0.01; ')),
  fails: bash(`exit ${FAILURE_CODE}`),
};

runtimeContract('Docker', async () => {
  const lab = openLab();
  const { subnet, gateway } = await freeSubnet(lab.runtime);
  return {
    runtime: lab.runtime,
    stranger: lab.stranger,
    image: IMAGE,
    command: (program) => PROGRAMS[program],
    prefix: lab.prefix,
    network: { subnet, gateway, bridge: `bt${lab.prefix.slice(-8)}` },
    address: (index) => gateway.replace(/\.1$/, `.${index + 2}`),
    memoryLimit: async (id) => (await lab.docker.getContainer(id).inspect()).HostConfig.Memory,
    cleanUp: lab.cleanUp,
  };
});
