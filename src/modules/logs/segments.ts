import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { countLines, linesBackward, readBytes } from './bytes.ts';

/** Where to read on: a byte in a segment, and the sequence number of the line that begins there. */
export interface Position {
  segment: number;
  offset: number;
  seq: number;
}

export interface StoredPage {
  /** Sequence number of the first line. */
  first: number;
  /** Encoded lines. */
  lines: string[];
  next: Position;
}

/**
 * The stored lines of one service: files of JSON lines, each named by the sequence number of its first line. The first line
 * of a file is a header that says how far each replica's log had been stored before it.
 */
export interface Segments {
  /** Sequence number that the next appended line gets. */
  nextSeq(): number;
  /** Appends `count` lines at `seq`. When it throws, none of them is stored. */
  append(batch: { seq: number; count: number; bytes: Uint8Array }, cursors: ReadonlyMap<string, string>): void;
  /** Timestamp of the last stored line of a replica; undefined when nothing of it is stored. */
  cursorOf(replica: string): string | undefined;
  /** Where the line `seq` is, or the first one after it that is stored. */
  locate(seq: number): Position;
  /** Lines from a position on, some 128 KiB of them; none at the end. */
  read(position: Position): StoredPage;
  /** Where the last `count` lines that match begin; files that were last written before `since` (ms) are not looked at. */
  tailStart(count: number, match: ((text: string) => boolean) | undefined, since: number | undefined): Position;
  bytes(): number;
  remove(): void;
}

interface Segment {
  first: number;
  path: string;
  size: number;
}

const SUFFIX = '.jsonl';
const HEADER = '{"cursors":';
const PAGE_BYTES = 128 * 1024;
const NEWLINE = 0x0a;

export const openSegments = (dir: string, capBytes: number): Segments => {
  const segmentBytes = Math.max(64 * 1024, Math.floor(capBytes / 10));
  const segments = scan(dir);
  let next = recover(segments);

  const total = (): number => segments.reduce((sum, segment) => sum + segment.size, 0);

  const startSegment = (seq: number, cursors: ReadonlyMap<string, string>): Segment => {
    while (segments.length > 0 && total() + segmentBytes > capBytes) dropOldest();
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const path = join(dir, `${String(seq).padStart(12, '0')}${SUFFIX}`);
    const segment = { first: seq, path, size: 0 };
    try {
      write(segment, Buffer.from(`${HEADER}${JSON.stringify(Object.fromEntries(cursors))}}\n`));
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    }
    segments.push(segment);
    return segment;
  };
  const dropOldest = (): void => {
    const oldest = segments.shift();
    if (oldest !== undefined) rmSync(oldest.path, { force: true });
  };
  const find = (seq: number): Segment | undefined =>
    segments.findLast((segment) => segment.first <= seq) ?? segments[0];
  const startOf = (segment: Segment | undefined): Position =>
    segment === undefined
      ? { segment: next, offset: 0, seq: next }
      : { segment: segment.first, offset: headerLength(segment.path), seq: segment.first };

  const locate = (seq: number): Position => {
    const segment = find(seq);
    const start = startOf(segment);
    if (segment === undefined || seq <= start.seq) return start;
    const { offset, lines } = countLines(segment.path, start.offset, seq - start.seq);
    return { segment: segment.first, offset, seq: start.seq + lines };
  };

  return {
    nextSeq: () => next,
    append: ({ seq, count, bytes }, cursors) => {
      const last = segments.at(-1);
      // Where lines are missing because the disk was full, a new file keeps the numbering of what follows true.
      const fits = last !== undefined && seq === next && last.size + bytes.length <= segmentBytes;
      write(fits ? last : startSegment(seq, cursors), bytes);
      next = seq + count;
    },
    cursorOf: (replica) => {
      const last = segments.at(-1);
      return last === undefined ? undefined : cursorIn(last.path, replica);
    },
    locate,
    read: (position) => {
      const index = segments.findIndex((segment) => segment.first >= position.segment);
      const segment = segments[index];
      if (segment === undefined) return { first: position.seq, lines: [], next: position };
      const from = segment.first === position.segment ? position : startOf(segment);
      const bytes = readBytes(segment.path, from.offset, PAGE_BYTES);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      const following = segments[index + 1];
      if (end === 0 && following !== undefined) {
        return { first: from.seq, lines: [], next: startOf(following) };
      }
      const lines = end === 0 ? [] : bytes.toString('utf8', 0, end - 1).split('\n');
      const after = { segment: segment.first, offset: from.offset + end, seq: from.seq + lines.length };
      return { first: from.seq, lines, next: after };
    },
    tailStart: (count, match, since) => {
      if (count === 0) return locate(next);
      let start: Position | undefined;
      let left = count;
      for (const segment of segments.toReversed()) {
        if (since !== undefined && statSync(segment.path).mtimeMs < since) break;
        if (left === Number.POSITIVE_INFINITY) {
          start = startOf(segment);
          continue;
        }
        const header = headerLength(segment.path);
        for (const { offset, text } of linesBackward(segment.path, header)) {
          if (match !== undefined && !match(text)) continue;
          start = { segment: segment.first, offset, seq: -1 };
          left -= 1;
          if (left === 0) break;
        }
        if (left === 0) break;
      }
      return start === undefined ? locate(next) : withSeq(start, segments);
    },
    bytes: total,
    remove: () => {
      segments.length = 0;
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

const scan = (dir: string): Segment[] => {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => /^\d{12,15}\.jsonl$/.test(name))
    .map((name) => ({ first: Number(name.slice(0, -SUFFIX.length)), path: join(dir, name), size: 0 }))
    .sort((a, b) => a.first - b.first)
    .map((segment) => ({ ...segment, size: statSync(segment.path).size }));
};

/** Drops what a crash cut short at the end, and tells the number after the last line. */
const recover = (segments: Segment[]): number => {
  for (let last = segments.at(-1); last !== undefined; last = segments.at(-1)) {
    const end = readBytes(last.path, 0, last.size).lastIndexOf(NEWLINE) + 1;
    if (end < last.size) truncateSync(last.path, end);
    last.size = end;
    if (end > 0) return last.first + countLines(last.path, headerLength(last.path), Number.POSITIVE_INFINITY).lines;
    rmSync(last.path, { force: true });
    segments.pop();
  }
  return 1;
};

/** Appends at the known end, or leaves the file as it was. */
const write = (segment: Segment, bytes: Uint8Array): void => {
  const file = openSync(segment.path, 'a', 0o600);
  try {
    if (fstatSync(file).size !== segment.size) ftruncateSync(file, segment.size);
    let written = 0;
    while (written < bytes.length) written += writeSync(file, bytes, written);
    segment.size += bytes.length;
  } catch (error) {
    ftruncateSync(file, segment.size);
    throw error;
  } finally {
    closeSync(file);
  }
};

const headerLength = (path: string): number => {
  const bytes = readBytes(path, 0, PAGE_BYTES);
  return bytes.subarray(0, HEADER.length).toString('latin1') === HEADER ? bytes.indexOf(NEWLINE) + 1 : 0;
};

const cursorIn = (path: string, replica: string): string | undefined => {
  const bytes = readBytes(path, 0, statSync(path).size);
  const key = `"replica":${JSON.stringify(replica)},`;
  const at = bytes.lastIndexOf(key);
  if (at !== -1) {
    const start = bytes.lastIndexOf('{"ts":"', at) + '{"ts":"'.length;
    return bytes.toString('latin1', start, bytes.indexOf('"', start));
  }
  const header = bytes.subarray(0, Math.max(0, bytes.indexOf(NEWLINE))).toString('utf8');
  if (!header.startsWith(HEADER)) return undefined;
  const { cursors } = JSON.parse(header) as { cursors: Record<string, string> };
  return cursors[replica];
};

const withSeq = (position: Position, segments: readonly Segment[]): Position => {
  const segment = segments.find(({ first }) => first === position.segment);
  if (segment === undefined || position.seq !== -1) return position;
  const header = headerLength(segment.path);
  return {
    ...position,
    seq: segment.first + countLines(segment.path, header, Number.POSITIVE_INFINITY, position.offset).lines,
  };
};
