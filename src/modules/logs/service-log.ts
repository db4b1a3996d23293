import { encodeLine, type LogLine } from './model.ts';
import { createFanOut, type FanOut } from './fan-out.ts';
import { openSegments, type Segments } from './segments.ts';

/** The log of one service: lines are numbered, stored a moment later, and told to whoever reads along. */
export interface ServiceLog {
  readonly segments: Segments;
  readonly live: FanOut;
  append(line: LogLine): void;
  /** Writes what waits; afterwards the files hold every line, unless the disk refused. */
  flush(): void;
  /** Sequence number of the next line. */
  nextSeq(): number;
  /** Timestamp of the last line taken from a replica. */
  cursorOf(replica: string): string | undefined;
  /** The replica's log has ended: its cursor is not needed any more. */
  forget(replica: string): void;
  readonly closed: boolean;
  /** Ends the readers and deletes the files. */
  remove(): void;
}

export interface ServiceLogOptions {
  dir: string;
  capBytes: number;
  onWriteFailed: (error: unknown) => void;
  /** So many lines will never be stored. */
  onLost: (count: number) => void;
  /** Writing works again; `lost` lines were not stored meanwhile. */
  onHealed: (lost: number) => void;
}

const FLUSH_MS = 50;
const RETRY_MS = 1000;
const FLUSH_CHARS = 64 * 1024;
/** Characters that wait for a disk that refuses; beyond them lines are counted as lost. */
const MAX_WAITING_CHARS = 1024 * 1024;

export const openServiceLog = (options: ServiceLogOptions): ServiceLog => {
  const segments = openSegments(options.dir, options.capBytes);
  const live = createFanOut();
  const cursors = new Map<string, string>();
  let next = segments.nextSeq();
  let waiting: string[] = [];
  let waitingChars = 0;
  let lost = 0;
  let failing = false;
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0 || closed) return;
    try {
      const bytes = Buffer.from(`${waiting.join('\n')}\n`);
      segments.append({ seq: next - waiting.length, count: waiting.length, bytes }, cursors);
    } catch (error) {
      failed(error);
      return;
    }
    waiting = [];
    waitingChars = 0;
    if (!failing) return;
    failing = false;
    options.onHealed(lost);
    lost = 0;
  };
  const failed = (error: unknown): void => {
    if (!failing) options.onWriteFailed(error);
    failing = true;
    if (waitingChars > MAX_WAITING_CHARS) {
      lost += waiting.length;
      options.onLost(waiting.length);
      waiting = [];
      waitingChars = 0;
    }
    timer = setTimeout(flush, RETRY_MS);
  };

  return {
    segments,
    live,
    append: (line) => {
      if (closed) return;
      const text = encodeLine(line);
      live.push(next, text);
      next += 1;
      waiting.push(text);
      waitingChars += text.length;
      // The two streams of a container may come a few nanoseconds out of order.
      if (line.ts > (cursors.get(line.replica) ?? '')) cursors.set(line.replica, line.ts);
      if (waitingChars > (failing ? MAX_WAITING_CHARS : FLUSH_CHARS)) flush();
      else timer ??= setTimeout(flush, FLUSH_MS);
    },
    flush,
    nextSeq: () => next,
    cursorOf: (replica) => {
      const cursor = cursors.get(replica) ?? segments.cursorOf(replica);
      if (cursor !== undefined) cursors.set(replica, cursor);
      return cursor;
    },
    forget: (replica) => {
      cursors.delete(replica);
    },
    get closed() {
      return closed;
    },
    remove: () => {
      closed = true;
      clearTimeout(timer);
      waiting = [];
      segments.remove();
      live.wake();
    },
  };
};
