import type { Berth } from '#test/support/berth.ts';
import type { Row } from './row.ts';
import type { Scope } from './scope.ts';

export interface Bench {
  /** Measured runs of each side. */
  runs: number;
  /** How long an idle server is watched for its use of CPU. */
  idleSeconds: number;
  /** Megabytes that a datastore is filled with. */
  sizeMb: number;
  /** Says what is going on. */
  say: (line: string) => void;
  /** What the benchmark has to undo at its end. */
  scope: Scope;
  /** A server that the benchmarks share; each has a project of its own there. */
  berth: () => Promise<Berth>;
}

/** Measures, and gives the lines of the table. */
export type Benchmark = (bench: Bench) => Promise<Row[]>;
