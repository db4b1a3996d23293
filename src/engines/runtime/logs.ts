import type { RuntimeLogLine } from './port.ts';

/** A line is cut here; Docker itself splits longer lines into entries of this size. */
export const MAX_LINE_BYTES = 16 * 1024;
const HEADER_BYTES = 8;
/** No entry of any log driver comes near it: a longer one means that the stream is not what we take it for. */
const MAX_FRAME_BYTES = 8 * 1024 * 1024;

interface Frame {
  stream: 'stdout' | 'stderr';
  payload: Uint8Array;
}

/** Decodes Docker's multiplexed log stream (asked for with timestamps) into lines, however its chunks are cut. */
export async function* decodeLogs(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RuntimeLogLine, void, undefined> {
  const pending = { stdout: new Line('stdout'), stderr: new Line('stderr') };
  for await (const { stream, payload } of readFrames(chunks)) {
    const line = pending[stream];
    if (!line.append(payload)) continue;
    yield line.take();
  }
  for (const line of [pending.stdout, pending.stderr]) if (line.started) yield line.take();
}

async function* readFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame, void, undefined> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let offset = 0;
    for (;;) {
      const frame = frameAt(data, offset);
      if (frame === undefined) break;
      offset += HEADER_BYTES + frame.payload.length;
      yield frame;
    }
    rest = data.subarray(offset);
  }
}

const frameAt = (data: Uint8Array, offset: number): Frame | undefined => {
  if (data.length - offset < HEADER_BYTES) return undefined;
  const view = new DataView(data.buffer, data.byteOffset + offset);
  const kind = view.getUint8(0);
  const length = view.getUint32(4);
  if ((kind !== 1 && kind !== 2) || length > MAX_FRAME_BYTES) {
    throw new Error(`Docker sent a log stream that is not multiplexed (kind ${kind}, length ${length})`);
  }
  const start = offset + HEADER_BYTES;
  if (data.length < start + length) return undefined;
  return { stream: kind === 1 ? 'stdout' : 'stderr', payload: data.subarray(start, start + length) };
};

const SPACE = 0x20;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** One line in the making: Docker sends one longer than 16 KiB in pieces, each with the same timestamp. */
class Line {
  started = false;
  private ts = '';
  private parts: Uint8Array[] = [];
  private bytes = 0;
  private readonly stream: RuntimeLogLine['stream'];

  constructor(stream: RuntimeLogLine['stream']) {
    this.stream = stream;
  }

  /** Adds a piece; true when the line has ended. */
  append(payload: Uint8Array): boolean {
    const space = payload.indexOf(SPACE);
    if (!this.started) this.ts = Buffer.from(payload.subarray(0, Math.max(space, 0))).toString('latin1');
    this.started = true;
    const ended = payload.at(-1) === NEWLINE;
    const text = payload.subarray(space + 1, ended ? -1 : undefined);
    const kept = text.subarray(0, MAX_LINE_BYTES - this.bytes);
    // A copy: the chunk that the piece lies in may be much larger than it, and must not be kept alive by it.
    if (kept.length > 0) this.parts.push(ended && this.parts.length === 0 ? kept : Uint8Array.from(kept));
    this.bytes += kept.length;
    return ended;
  }

  take(): RuntimeLogLine {
    const line = decodeText(Buffer.concat(this.parts), this.bytes === MAX_LINE_BYTES);
    const { ts, stream } = this;
    this.started = false;
    this.parts = [];
    this.bytes = 0;
    return { ts, stream, line };
  }
}

/** A character that the cut halved is left out; other invalid bytes become U+FFFD. */
const decodeText = (bytes: Uint8Array, cut: boolean): string =>
  new TextDecoder().decode(bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes, { stream: cut });

/** Docker's `since` is inclusive and in seconds: one nanosecond after `ts`. */
export const sinceAfter = (ts: string): string => {
  const [, whole = '', fraction = '', zone = ''] = /^([^.]+?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(ts) ?? [];
  const seconds = Date.parse(`${whole}${zone}`) / 1000;
  if (!Number.isFinite(seconds)) throw new TypeError(`"${ts}" is no RFC 3339 time`);
  const nanos = BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0')) + 1n;
  return `${nanos / 1_000_000_000n}.${String(nanos % 1_000_000_000n).padStart(9, '0')}`;
};
