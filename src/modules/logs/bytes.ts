import { closeSync, openSync, readSync, statSync } from 'node:fs';

const BLOCK = 64 * 1024;
const NEWLINE = 0x0a;

/** Up to `length` bytes from `offset` on. */
export const readBytes = (path: string, offset: number, length: number): Buffer => {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const count = readSync(file, bytes, filled, length - filled, offset + filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } finally {
    closeSync(file);
  }
};

/** Counts lines from `offset` until `most` are counted or `end` is reached; says where it stopped. */
export const countLines = (
  path: string,
  offset: number,
  most: number,
  end = Number.POSITIVE_INFINITY,
): { offset: number; lines: number } => {
  let at = offset;
  let lines = 0;
  for (;;) {
    const block = readBytes(path, at, Math.min(BLOCK * 4, Math.max(0, end - at)));
    if (block.length === 0) return { offset: at, lines };
    let stopped = 0;
    for (let found = block.indexOf(NEWLINE); found !== -1 && lines < most; found = block.indexOf(NEWLINE, found + 1)) {
      lines += 1;
      stopped = found + 1;
    }
    if (lines >= most) return { offset: at + stopped, lines };
    at += block.length;
  }
};

/** The lines of a file from its end back to `from`, read in blocks. */
export function* linesBackward(
  path: string,
  from: number,
): Generator<{ offset: number; text: string }, void, undefined> {
  let start = statSync(path).size;
  let tail = Buffer.alloc(0);
  while (start > from) {
    const begin = Math.max(from, start - BLOCK);
    const bytes = Buffer.concat([readBytes(path, begin, start - begin), tail]);
    let end = bytes.length;
    for (;;) {
      // The byte at `end - 1` is the newline that closes the line looked for.
      const before = end < 2 ? -1 : bytes.lastIndexOf(NEWLINE, end - 2);
      if (before === -1) break;
      yield { offset: begin + before + 1, text: bytes.toString('utf8', before + 1, end - 1) };
      end = before + 1;
    }
    tail = Buffer.from(bytes.subarray(0, end));
    start = begin;
  }
  if (tail.length > 0) yield { offset: from, text: tail.toString('utf8', 0, tail.length - 1) };
}
