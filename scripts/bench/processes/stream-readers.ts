/**
 * Many readers of one stream of events. Some stop reading after their first bytes; of the others every tenth looks at each
 * line, how old it is and whether one is missing; the rest only take what comes, as reading 450,000 lines/s would
 * take the core that the server needs.
 */
import { connect } from 'node:net';
import { readOptions, ready, report, untilTold } from '../kit/process-side.ts';
import { percentile } from '../kit/stats.ts';

export interface ReadersOptions {
  port: number;
  path: string;
  headers: Record<string, string>;
  readers: number;
  stalled: number;
  warmUpSeconds: number;
  windowSeconds: number;
  windows: number;
}

export interface ReadersResult {
  windows: { p50: number; p99: number }[];
  /** Lines that were looked at. */
  lines: number;
  /** Lines that a reader did not get. */
  gaps: number;
}

const options = readOptions() as ReadersOptions;
const LOOKED_AT = 10;
let ages: number[] = [];
let lines = 0;
let gaps = 0;
let measuring = false;

const request = [
  `GET ${options.path} HTTP/1.1`,
  `host: 127.0.0.1:${options.port}`,
  ...Object.entries(options.headers).map(([name, value]) => `${name}: ${value}`),
  '\r\n',
].join('\r\n');

/** A reader on a bare socket; it takes what comes, or stops at the first bytes. */
const openSocket = (stalls: boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: options.port });
    socket.on('connect', () => socket.write(request));
    socket.once('error', reject);
    socket.once('data', () => {
      if (stalls) socket.pause();
      resolve();
    });
    if (!stalls) socket.resume();
  });

/** A reader that looks at every line. */
const openReader = async (): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${options.port}${options.path}`, { headers: options.headers });
  if (!response.ok || response.body === null) throw new Error(`the stream answered ${response.status}`);
  look(response.body).catch(giveUp);
};

/** A reader whose stream breaks has nothing left to measure; one message for all of them will do. */
const giveUp = (error: unknown): never => {
  console.error('a stream broke:', error instanceof Error ? error.message : error);
  process.exit(1);
};

const LINE = /n=(\d+) t=([\d.]+) /g;

const look = async (body: ReadableStream<Uint8Array>): Promise<void> => {
  const decoder = new TextDecoder('latin1');
  let rest = '';
  let last = -1;
  for await (const chunk of body) {
    const text = rest + decoder.decode(chunk, { stream: true });
    const whole = text.lastIndexOf('\n\n') + 1;
    rest = text.slice(whole);
    const now = performance.timeOrigin + performance.now();
    for (const [, number, written] of text.slice(0, whole).matchAll(LINE)) {
      const current = Number(number);
      if (measuring) {
        ages.push(now - Number(written));
        lines += 1;
        if (last >= 0 && current !== last + 1) gaps += Math.max(1, current - last - 1);
      }
      last = current;
    }
  }
};

const opening: Promise<void>[] = [];
for (let number = 0; number < options.readers; number += 1) {
  if (number >= options.stalled && number % LOOKED_AT === 0) opening.push(openReader());
  else opening.push(openSocket(number < options.stalled));
}
await Promise.all(opening);
ready();
await Bun.sleep(options.warmUpSeconds * 1000);
const windows: ReadersResult['windows'] = [];
measuring = true;
for (let number = 0; number < options.windows; number += 1) {
  ages = [];
  await Bun.sleep(options.windowSeconds * 1000);
  windows.push({ p50: percentile(ages, 0.5), p99: percentile(ages, 0.99) });
}
measuring = false;
await untilTold();
const result: ReadersResult = { windows, lines, gaps };
report(result);
