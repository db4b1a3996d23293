/** Lines that were cut off the live stream together: every reader gets the same bytes. */
export interface Batch {
  /** Sequence number of the first line. */
  first: number;
  texts: readonly string[];
  /** The lines as `log` events. */
  bytes: Uint8Array;
}

/** The newest lines of one service, kept while somebody reads along, encoded once for all readers. */
export interface FanOut {
  join(): void;
  leave(): void;
  push(seq: number, text: string): void;
  /** The batch that holds the line `seq`. */
  batchAt(seq: number): Batch | undefined;
  /** First line that is in no batch yet; undefined when there is none. */
  pendingFrom(): number | undefined;
  oldest(): number | undefined;
  /** Resolves after the next batch, or when woken. */
  wait(): Promise<void>;
  wake(): void;
}

/** Readers that are further behind read from the files. */
const RING_BYTES = 1024 * 1024;
const BATCH_BYTES = 64 * 1024;
/** With many readers, lines are gathered longer: each batch costs one write a reader. */
const READERS_PER_MS = 50;
const LONGEST_GATHER_MS = 15;

const encoder = new TextEncoder();

/** Encodes lines as `log` events; `texts` are JSON already. */
export const encodeEvents = (
  first: number,
  texts: readonly string[],
  match?: (text: string) => boolean,
): Uint8Array => {
  let out = '';
  for (const [index, text] of texts.entries()) {
    if (match === undefined || match(text)) out += `id: ${first + index}\nevent: log\ndata: ${text}\n\n`;
  }
  return encoder.encode(out);
};

export const createFanOut = (): FanOut => {
  let readers = 0;
  let ring: Batch[] = [];
  let ringBytes = 0;
  let pending: string[] = [];
  let pendingFirst = 0;
  let pendingLength = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let next = Promise.withResolvers<void>();

  const wake = (): void => {
    const waiting = next;
    next = Promise.withResolvers<void>();
    waiting.resolve();
  };
  const cut = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (pending.length === 0) return;
    const batch = { first: pendingFirst, texts: pending, bytes: encodeEvents(pendingFirst, pending) };
    pending = [];
    pendingLength = 0;
    ring.push(batch);
    ringBytes += batch.bytes.length;
    while (ringBytes > RING_BYTES && ring.length > 1) ringBytes -= ring.shift()?.bytes.length ?? 0;
    wake();
  };
  const clear = (): void => {
    clearTimeout(timer);
    timer = undefined;
    ring = [];
    ringBytes = 0;
    pending = [];
    pendingLength = 0;
  };

  return {
    join: () => {
      readers += 1;
    },
    leave: () => {
      readers -= 1;
      if (readers === 0) clear();
    },
    push: (seq, text) => {
      if (readers === 0) return;
      if (pending.length === 0) pendingFirst = seq;
      pending.push(text);
      pendingLength += text.length;
      if (pendingLength > BATCH_BYTES) cut();
      else timer ??= setTimeout(cut, Math.min(LONGEST_GATHER_MS, Math.floor(readers / READERS_PER_MS)));
    },
    batchAt: (seq) => ring.findLast((batch) => batch.first <= seq && seq < batch.first + batch.texts.length),
    pendingFrom: () => (pending.length === 0 ? undefined : pendingFirst),
    oldest: () => ring[0]?.first,
    wait: () => next.promise,
    wake,
  };
};
