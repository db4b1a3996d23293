/**
 * Sends requests over kept connections, the next when the answer before is there. It works on sockets and looks at the
 * least of an answer that tells it is whole and good, so that the server's core is busy before this one's is.
 */
import { connect, type Socket } from 'node:net';
import { readOptions, ready, report, untilTold } from '../kit/process-side.ts';

export interface HttpLoadOptions {
  port: number;
  path: string;
  headers: Record<string, string>;
  connections: number;
  seconds: number;
}

export interface HttpLoadResult {
  answered: number;
  failed: number;
  /** Of the last failure. */
  reason: string;
  seconds: number;
}

const options = readOptions() as HttpLoadOptions;
const request = Buffer.from(
  [
    `GET ${options.path} HTTP/1.1`,
    `host: 127.0.0.1:${options.port}`,
    ...Object.entries(options.headers).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n'),
);
const result: HttpLoadResult = { answered: 0, failed: 0, reason: '', seconds: 0 };
let stopping = false;

/** Bytes that are missing of an answer whose beginning is `head`; undefined while its header is not whole. */
const missing = (head: Buffer): number | undefined => {
  const end = head.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const text = head.toString('latin1', 0, end);
  const length = Number(/\ncontent-length: *(?<bytes>\d+)/i.exec(text)?.groups?.['bytes'] ?? Number.NaN);
  if (!text.startsWith('HTTP/1.1 200 ') || Number.isNaN(length)) {
    result.failed += 1;
    result.reason = text.slice(0, 80);
    stopping = true;
    return 0;
  }
  return end + 4 + length - head.length;
};

const open = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: options.port, noDelay: true });
    let left = 0;
    let head: Buffer | undefined;
    const take = (chunk: Buffer): void => {
      if (left > 0) left -= chunk.length;
      else {
        head = head === undefined ? chunk : Buffer.concat([head, chunk]);
        const more = missing(head);
        if (more === undefined) return;
        head = undefined;
        left = more;
      }
      if (left > 0) return;
      result.answered += 1;
      if (!stopping) socket.write(request);
    };
    socket.on('data', take);
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () => {
      if (stopping) return;
      result.failed += 1;
      result.reason = 'a connection was closed';
    });
  });

const sockets = await Promise.all(Array.from({ length: options.connections }, open));
const begun = performance.now();
for (const socket of sockets) socket.write(request);
ready();
await Promise.all([Bun.sleep(options.seconds * 1000), untilTold()]);
stopping = true;
result.seconds = (performance.now() - begun) / 1000;
report(result);
