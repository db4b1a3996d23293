/** Sends requests at a fixed rate, however long answers take; each is measured from when it is sent to its last byte. */
import { readOptions, ready, report, untilTold } from '../kit/process-side.ts';
import { percentile } from '../kit/stats.ts';

export interface PacedReadsOptions {
  url: string;
  headers: Record<string, string>;
  perSecond: number;
}

export interface PacedReadsResult {
  sent: number;
  failed: number;
  /** In ms. */
  p50: number;
  p99: number;
}

const { url, headers, perSecond } = readOptions() as PacedReadsOptions;
const latencies: number[] = [];
let failed = 0;

const read = async (): Promise<void> => {
  const begun = performance.now();
  const good = await fetch(url, { headers }).then(
    async (response) => (await response.arrayBuffer()).byteLength > 0 && response.ok,
    () => false,
  );
  latencies.push(performance.now() - begun);
  if (!good) failed += 1;
};

// The first answers come over connections that are being opened.
for (let count = 0; count < perSecond; count += 1) await read();
latencies.length = 0;

const stop = new AbortController();
const told = untilTold().finally(() => stop.abort());
ready();
const begun = performance.now();
const reads: Promise<void>[] = [];
while (!stop.signal.aborted) {
  const due = Math.floor(((performance.now() - begun) * perSecond) / 1000);
  while (reads.length < due) reads.push(read());
  await Bun.sleep(1);
}
await told;
await Promise.all(reads);
const result: PacedReadsResult = {
  sent: reads.length,
  failed,
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
};
report(result);
