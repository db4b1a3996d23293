import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Attachment } from '#engines/runtime/port';
import { bash, type Lab, type LabNetwork, openLab } from './support.ts';

// A busy machine may take its time.
setDefaultTimeout(60_000);

const MEGABYTE = 1024 ** 2;
const SIZE = 1500 * MEGABYTE;
/**
 * What the garbage collector leaves lying about at full speed, the more the larger the heap of the process is already
 * (233 MB after four thousand other tests); far below what passes through.
 */
const HEADROOM = 500 * MEGABYTE;

let lab: Lab;
let network: LabNetwork;
beforeAll(async () => {
  lab = openLab();
  network = await lab.addNetwork('a');
});
afterAll(() => lab.cleanUp());

const attached = async (index: number, script: string): Promise<Attachment> => {
  const spec = lab.spec(network, network.gateway.replace(/\.1$/, `.${index}`), bash(script));
  const { id } = await lab.runtime.create({ ...spec, keepLogs: false });
  const ends = await lab.runtime.attach(id);
  await lab.runtime.start(id);
  return ends;
};

const read = async ({ output }: Attachment): Promise<{ bytes: number; growth: number }> => {
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  let bytes = 0;
  let most = before;
  for await (const { data } of output) {
    bytes += data.length;
    most = Math.max(most, process.memoryUsage.rss());
  }
  return { bytes, growth: most - before };
};

test('what a container prints passes through without being gathered in memory', async () => {
  const { bytes, growth } = await read(await attached(2, `head -c ${SIZE} /dev/zero`));
  expect(bytes).toBe(SIZE);
  expect(growth).toBeLessThan(HEADROOM);
});
