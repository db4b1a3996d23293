/** At most so much passes before new garbage is collected, which others do not notice. */
const SWEEP_BYTES = 4 * 1024 * 1024;
/** And all of it, which takes as long as a slow request: chunks that were waited with count as old. */
const FULL_SWEEP_BYTES = 64 * 1024 * 1024;

/**
 * To be told of bytes that pass through. The collector does not see how much memory chunks of bytes hold: at full speed it
 * would leave hundreds of MB of them lying about.
 */
export const createSweep = (): ((bytes: number) => void) => {
  let passed = 0;
  let swept = 0;
  return (bytes) => {
    passed += bytes;
    if (passed < SWEEP_BYTES) return;
    swept += passed;
    passed = 0;
    const full = swept >= FULL_SWEEP_BYTES;
    if (full) swept = 0;
    Bun.gc(full);
  };
};
