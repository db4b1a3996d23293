import { Transform } from 'node:stream';
import type { Clock } from '#kernel/clock';
import { BerthError, invalidInput } from '#kernel/errors';

export interface UnpackLimits {
  bytes: number;
  entries: number;
  /** Highest ratio of plain to compressed bytes, once `ratioAfterBytes` are unpacked. */
  ratio: number;
  ratioAfterBytes: number;
  milliseconds: number;
}

export const DEFAULT_LIMITS: UnpackLimits = {
  bytes: 4 * 1024 ** 3,
  entries: 200_000,
  ratio: 200,
  ratioAfterBytes: 64 * 1024 ** 2,
  milliseconds: 120_000,
};

/** Counts what an archive uses up, and ends the unpacking as soon as one limit is passed. */
export interface Meter {
  compressed: Transform;
  plain: Transform;
  countEntry(): void;
  countCopy(bytes: number): void;
}

export const createMeter = (limits: UnpackLimits, clock: Clock): Meter => {
  const begun = clock.monotonic();
  let compressed = 0;
  let plain = 0;
  let entries = 0;
  const check = (): void => {
    if (plain > limits.bytes) throw tooBig(`unpacks to more than ${limits.bytes} bytes`);
    if (entries > limits.entries) throw tooBig(`has more than ${limits.entries} entries`);
    if (plain > limits.ratioAfterBytes && plain > limits.ratio * compressed) {
      throw tooBig(`unpacks to more than ${limits.ratio} times its size`);
    }
    if (clock.monotonic() - begun > limits.milliseconds) {
      throw new BerthError('TIMEOUT', `the archive took longer than ${limits.milliseconds / 1000} s to unpack`, {
        hint: 'send less, or retry when the server is less busy',
        retryable: true,
      });
    }
  };
  return {
    compressed: counting((bytes) => {
      if (compressed === 0) refuseOtherFormats(bytes);
      compressed += bytes.byteLength;
    }),
    plain: counting((bytes) => {
      plain += bytes.byteLength;
      check();
    }),
    countEntry: () => {
      entries += 1;
      check();
    },
    countCopy: (bytes) => {
      plain += bytes;
      check();
    },
  };
};

const counting = (see: (bytes: Buffer) => void): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        see(chunk);
        done(null, chunk);
      } catch (thrown) {
        done(thrown instanceof Error ? thrown : new Error(String(thrown)));
      }
    },
  });

const refuseOtherFormats = (first: Buffer): void => {
  if (first[0] === 0x1f && (first.byteLength < 2 || first[1] === 0x8b)) return;
  throw invalidInput(
    'the source is not gzipped',
    'send the source directory as .tar.gz, for example with: tar -czf source.tar.gz -C <directory> .',
  );
};

const tooBig = (why: string): BerthError =>
  invalidInput(`the archive ${why}`, 'exclude artifacts and data through .serviceignore, then deploy again');
