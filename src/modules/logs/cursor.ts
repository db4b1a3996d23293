import { encodeEvents } from './fan-out.ts';
import type { Position } from './segments.ts';
import type { ServiceLog } from './service-log.ts';

/** One reader's place in a service's log. It keeps no lines: what it has not read yet is in the ring or in the files. */
export interface Cursor {
  /** The next lines as `log` events, empty when none of them matches; undefined when there are no more for now. */
  nextEvents(): Uint8Array | undefined;
  /** The next lines, whether they match or not; readers at the same place get the same `texts`. */
  nextLines(): { first: number; texts: readonly string[] } | undefined;
  /** The same as `nextEvents`, as JSON texts. */
  nextTexts(): string[] | undefined;
  /** Sequence number of the next line. */
  seq(): number;
}

/** Lines in order, numbered from `first` on. */
interface Lines {
  first: number;
  texts: readonly string[];
  /** All of them as events, when they are encoded already. */
  bytes?: Uint8Array;
}

export const createCursor = (log: ServiceLog, start: Position, match?: (text: string) => boolean): Cursor => {
  let seq = start.seq;
  let position: Position | undefined = start;

  const fromRing = (): Lines | undefined => {
    const batch = log.live.batchAt(seq);
    if (batch === undefined) return undefined;
    const first = seq;
    seq = batch.first + batch.texts.length;
    position = undefined;
    return batch.first === first ? batch : { first, texts: batch.texts.slice(first - batch.first) };
  };
  const fromFiles = (): Lines | undefined => {
    log.flush();
    for (;;) {
      const from: Position = position ?? log.segments.locate(seq);
      const page = log.segments.read(from);
      position = page.next;
      if (page.lines.length > 0) {
        seq = page.next.seq;
        return { first: page.first, texts: page.lines };
      }
      if (page.next.segment === from.segment) return undefined;
    }
  };
  const next = (): Lines | undefined => {
    const ready = fromRing();
    if (ready !== undefined) return ready;
    const end = log.live.pendingFrom() ?? log.nextSeq();
    if (seq >= end) return undefined;
    const stored = fromFiles();
    if (stored !== undefined) return stored;
    // These lines were lost to a full disk: go on with the first that is there.
    seq = Math.min(end, log.live.oldest() ?? end);
    position = undefined;
    return fromRing();
  };

  return {
    seq: () => seq,
    nextEvents: () => {
      const lines = next();
      if (lines === undefined) return undefined;
      if (match === undefined && lines.bytes !== undefined) return lines.bytes;
      return encodeEvents(lines.first, lines.texts, match);
    },
    nextLines: next,
    nextTexts: () => {
      const lines = next();
      return lines === undefined || match === undefined ? lines?.texts.slice() : lines.texts.filter(match);
    },
  };
};
