/** Frames of this many milliseconds go out together: for many readers of a busy stream, one write each instead of one a line. */
const FLUSH_MS = 5;

const dirty = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
let lastRun = 0;

/** Runs `flush` soon: at once after a quiet time, else together with all others every few milliseconds. */
export const flushSoon = (flush: () => void): void => {
  dirty.add(flush);
  if (timer !== undefined) return;
  const quietFor = performance.now() - lastRun;
  timer = setTimeout(runAll, quietFor >= FLUSH_MS ? 0 : FLUSH_MS - quietFor);
};

const runAll = (): void => {
  timer = undefined;
  lastRun = performance.now();
  const due = [...dirty];
  dirty.clear();
  joined.clear();
  for (const flush of due) flush();
  joined.clear();
};

/** Batches joined in this run by their first frame: readers at the same place of a stream share the bytes. */
const joined = new Map<Uint8Array, { last: Uint8Array | undefined; count: number; bytes: Uint8Array }>();

/** The frames as one chunk. Frames are shared by reference, so the same ends and count mean the same batch. */
export const joinFrames = (frames: readonly Uint8Array[], size: number): Uint8Array => {
  const [first] = frames;
  if (first === undefined || frames.length === 1) return first ?? new Uint8Array(0);
  const known = joined.get(first);
  const last = frames.at(-1);
  if (known !== undefined && known.last === last && known.count === frames.length && known.bytes.length === size) {
    return known.bytes;
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const frame of frames) {
    bytes.set(frame, offset);
    offset += frame.length;
  }
  joined.set(first, { last, count: frames.length, bytes });
  return bytes;
};
