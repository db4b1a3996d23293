/** At most so much passes before new garbage is collected, which others do not notice. */
const SWEEP_BYTES = 4 * 1024 * 1024;
/** And all of it, which takes as long as a slow request: chunks that were waited with count as old. */
const FULL_SWEEP_BYTES = 64 * 1024 * 1024;

/**
 * Is told of bytes that pass through. The collector does not see how much memory chunks of bytes hold: at full speed it
 * would leave hundreds of MB of them lying about.
 */
export interface Sweep {
  pass(bytes: number): void;
  /** Nothing more comes. */
  end(): void;
}

export const createSweep = (): Sweep => {
  let light = 0;
  let full = 0;
  return {
    pass: (bytes) => {
      light += bytes;
      full += bytes;
      if (light < SWEEP_BYTES) return;
      light = 0;
      Bun.gc(full >= FULL_SWEEP_BYTES);
      if (full >= FULL_SWEEP_BYTES) full = 0;
    },
    end: () => {
      if (full >= SWEEP_BYTES) Bun.gc(true);
    },
  };
};
