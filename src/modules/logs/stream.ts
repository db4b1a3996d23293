import type { SseReader } from '#http/sse';
import type { LogReader } from './service.ts';

/**
 * Feeds an event stream from a log at the pace of its reader: one that stalls holds no lines back, and goes on from the files.
 * Returns what ends it.
 */
export const pump = (source: LogReader, reader: SseReader, follow: boolean): (() => void) => {
  let left = false;
  const leave = (): void => {
    if (left) return;
    left = true;
    source.leave();
  };
  const run = async (): Promise<void> => {
    while (!reader.ended && source.open()) {
      if (!follow && source.cursor.seq() >= source.end) break;
      const bytes = source.cursor.nextEvents();
      if (bytes === undefined) {
        if (!follow) break;
        await source.wait();
      } else if (bytes.length > 0) {
        await reader.write(bytes);
      }
    }
    leave();
    reader.end();
  };
  // A failure here (an unreadable file) must end the stream, not the process.
  run().catch((error: unknown) => {
    leave();
    reader.end();
    source.onFault(error);
  });
  return leave;
};
