const LIMIT_BYTES = 32 * 1024;

/** Keeps the last lines of a stream in bounded memory. */
export const createTail = (lines: number): { add(data: Uint8Array): void; text(): string } => {
  let kept: Uint8Array = new Uint8Array(0);
  return {
    add: (data) => {
      kept = Uint8Array.from(Buffer.concat([kept, data]).subarray(-LIMIT_BYTES));
    },
    text: () => Buffer.from(kept).toString('utf8').trimEnd().split('\n').slice(-lines).join('\n'),
  };
};
