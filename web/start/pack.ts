import { createTarPacker } from 'modern-tar';
import { ApiError } from '../api.ts';
import type { SourceFile } from './collect.ts';

/** The same content gives the same archive, whenever it was checked out. */
const MTIME = new Date(0);
const EXECUTABLE = 0o755;
const PLAIN = 0o644;

/** Packs files as a gzipped tar, and tells how many bytes of content have gone in. */
export const packFiles = async (
  files: readonly SourceFile[],
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Blob> => {
  const { readable, controller } = createTarPacker();
  const packed = new Response(readable.pipeThrough(new CompressionStream('gzip'))).blob();
  // Told to whoever waits below; until then nobody may call it unhandled.
  packed.catch(() => undefined);
  try {
    for (const { path, file } of files) {
      signal.throwIfAborted();
      const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
      const entry = controller.add({ name: path, size: file.size, mode: modeOf(head), mtime: MTIME, uid: 0, gid: 0 });
      await file.stream().pipeThrough(counting(onBytes)).pipeTo(entry, { signal });
    }
    controller.finalize();
    return await packed;
  } catch (thrown) {
    controller.error(thrown);
    if (signal.aborted) throw thrown;
    throw unreadable(thrown);
  }
};

/** Browsers don't tell which files are programs; their first bytes do: `#!` and ELF. */
export const modeOf = ([a, b, c, d]: Uint8Array): number => {
  const script = a === 0x23 && b === 0x21;
  const elf = a === 0x7f && b === 0x45 && c === 0x4c && d === 0x46;
  return script || elf ? EXECUTABLE : PLAIN;
};

const counting = (
  onBytes: (bytes: number) => void,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> =>
  new TransformStream({
    transform: (chunk, controller) => {
      onBytes(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });

const unreadable = (thrown: unknown): ApiError =>
  new ApiError(
    {
      code: 'INVALID_INPUT',
      message: `the browser could not read the source: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      hint: 'files may have changed or gone meanwhile: choose the folder again',
      retryable: true,
    },
    0,
  );
