/**
 * The least that a stream of a container's log can do in Bun: follow it, make events of the lines of each chunk, write them
 * to every reader. A reader that does not keep up misses events; it costs no memory here.
 */
import { endWithParent, readOptions, ready } from '../kit/process-side.ts';

export interface BareStreamOptions {
  port: number;
  container: string;
}

const { port, container } = readOptions() as BareStreamOptions;
const SOCKET = (process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace('unix://', '');
const BUFFERED_BYTES = 1024 * 1024;
/** Before each chunk of a container's log: the stream's number, three zeros, the length as 32 bits. */
const HEADER_BYTES = 8;

const readers = new Set<ReadableStreamDefaultController<Uint8Array>>();
const encoder = new TextEncoder();
let sequence = 0;

const event = (text: string): string => {
  const space = text.indexOf(' ');
  const data = {
    ts: text.slice(0, space),
    replica: 'bare',
    release: 'bare',
    stream: 'stdout',
    line: text.slice(space + 1),
  };
  return `id: ${(sequence += 1)}\nevent: log\ndata: ${JSON.stringify(data)}\n\n`;
};

const send = (events: string): void => {
  const bytes = encoder.encode(events);
  for (const reader of readers) if ((reader.desiredSize ?? 0) > 0) reader.enqueue(bytes);
};

/** The whole frames at the beginning of `buffer` as events, and what is left. */
const takeFrames = (buffer: Buffer): { events: string; rest: Buffer } => {
  let events = '';
  let at = 0;
  while (at + HEADER_BYTES <= buffer.length) {
    const end = at + HEADER_BYTES + buffer.readUInt32BE(at + 4);
    if (end > buffer.length) break;
    events += event(buffer.toString('utf8', at + HEADER_BYTES, end).trimEnd());
    at = end;
  }
  return { events, rest: buffer.subarray(at) };
};

const follow = async (): Promise<void> => {
  const query = 'follow=1&stdout=1&stderr=1&timestamps=1&tail=0';
  const response = await fetch(`http://docker/containers/${container}/logs?${query}`, { unix: SOCKET });
  if (!response.ok || response.body === null) throw new Error(`the engine sent no log: ${response.status}`);
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of response.body) {
    const taken = takeFrames(rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]));
    rest = taken.rest;
    if (taken.events !== '') send(taken.events);
  }
  throw new Error('the log has ended');
};

Bun.serve({
  hostname: '127.0.0.1',
  port,
  idleTimeout: 0,
  fetch: () => {
    let own: ReadableStreamDefaultController<Uint8Array> | undefined;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          own = controller;
          readers.add(controller);
        },
        cancel: () => {
          if (own !== undefined) readers.delete(own);
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BUFFERED_BYTES }),
    );
    return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
  },
});
endWithParent();
ready();
await follow();
