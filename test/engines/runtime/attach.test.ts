import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { pipeline } from 'node:stream/promises';
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
  const { id } = await lab.runtime.create({ ...spec, stdin: true, keepLogs: false });
  const ends = await lab.runtime.attach(id);
  await lab.runtime.start(id);
  return ends;
};

const read = async ({ output }: Attachment): Promise<{ bytes: number; growth: number; last: string }> => {
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  let bytes = 0;
  let most = before;
  let last = '';
  for await (const { data } of output) {
    bytes += data.length;
    most = Math.max(most, process.memoryUsage.rss());
    last = data.length < 100 ? Buffer.from(data).toString() : '';
  }
  return { bytes, growth: most - before, last };
};

test('what a container prints passes through without being gathered in memory', async () => {
  const { bytes, growth } = await read(await attached(2, `head -c ${SIZE} /dev/zero`));
  expect(bytes).toBe(SIZE);
  expect(growth).toBeLessThan(HEADROOM);
});

test('what a container is given passes through at its pace', async () => {
  const ends = await attached(3, `head -c ${MEGABYTE} >/dev/null; sleep 0.5; wc -c`);
  const source = async function* (): AsyncGenerator<Uint8Array> {
    for (let left = SIZE; left > 0; left -= MEGABYTE) yield new Uint8Array(MEGABYTE);
  };
  const [{ growth, last }] = await Promise.all([read(ends), pipeline(source(), ends.stdin)]);
  expect(Number(last)).toBe(SIZE - MEGABYTE);
  expect(growth).toBeLessThan(HEADROOM);
});
