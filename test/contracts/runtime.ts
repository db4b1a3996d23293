import { afterEach, beforeEach, describe } from 'bun:test';
import { Bench, type RuntimeHarness } from './runtime-bench.ts';
import {
  containerContract,
  endContract,
  goneContract,
  refusalContract,
  strangerContract,
} from './runtime-containers.ts';
import { archiveContract, attachContract, volumeContract } from './runtime-exchange.ts';
import { imageContract, infoContract, networkContract } from './runtime-resources.ts';
import { eventContract, logContract, statsContract } from './runtime-streams.ts';

export { FAILURE_CODE, type Program, type RuntimeHarness, SAID } from './runtime-bench.ts';

/** Holds an implementation of the port to its contract. */
export const runtimeContract = (name: string, boot: () => Promise<RuntimeHarness>): void => {
  describe(`runtime contract: ${name}`, () => {
    const bench = new Bench(boot);
    beforeEach(() => bench.open());
    afterEach(() => bench.close());

    containerContract(bench);
    refusalContract(bench);
    endContract(bench);
    goneContract(bench);
    strangerContract(bench);
    logContract(bench);
    statsContract(bench);
    eventContract(bench);
    attachContract(bench);
    archiveContract(bench);
    volumeContract(bench);
    networkContract(bench);
    imageContract(bench);
    infoContract(bench);
  });
};
