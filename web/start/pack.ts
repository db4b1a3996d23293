import { createTarPacker } from 'modern-tar';
import { ApiError } from '../api.ts';
import type { SourceFile } from './source.ts';

/** The same content gives the same archive, whenever it was checked out. */
const MTIME = new Date(0);
const EXECUTABLE = 0o755;
const PLAIN = 0o644;
const LINK = 0o777;

/** Packs files as a gzipped tar, and tells how many bytes of content have gone in. */
export const packFiles = async (
  files: AsyncIterable<SourceFile>,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Blob> => {
  const { readable, controller } = createTarPacker();
  const packed = new Response(readable.pipeThrough(new CompressionStream('gzip'))).blob();
  // Told to whoever waits below; until then nobody may call it unhandled.
  packed.catch(() => undefined);
  const add = async ({ path, bytes, link, executable, open }: SourceFile): Promise<void> => {
    const header = { name: path, mtime: MTIME, uid: 0, gid: 0 };
    if (link !== undefined)
      return controller.add({ ...header, type: 'symlink', linkname: link, size: 0, mode: LINK }).close();
    const content = open().getReader();
    const first = await content.read();
    const mode = (executable ?? startsAsProgram(first.value ?? new Uint8Array())) ? EXECUTABLE : PLAIN;
    const entry = controller.add({ ...header, size: bytes, mode }).getWriter();
    for (let chunk = first; !chunk.done; chunk = await content.read()) {
      signal.throwIfAborted();
      onBytes(chunk.value.byteLength);
      await entry.write(chunk.value);
    }
    return entry.close();
  };
  try {
    for await (const file of files) {
      signal.throwIfAborted();
      await add(file);
    }
    controller.finalize();
    return await packed;
  } catch (thrown) {
    controller.error(thrown);
    throw signal.aborted || thrown instanceof ApiError ? thrown : unreadable(thrown);
  }
};

/** Browsers don't tell which files are programs; their first bytes do: `#!` and ELF. */
export const startsAsProgram = ([a, b, c, d]: Uint8Array): boolean =>
  (a === 0x23 && b === 0x21) || (a === 0x7f && b === 0x45 && c === 0x4c && d === 0x46);

const unreadable = (thrown: unknown): ApiError =>
  new ApiError(
    {
      code: 'INVALID_INPUT',
      message: `the browser could not read the source: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      hint: 'it may have changed or gone meanwhile, or be damaged: choose it again',
      retryable: true,
    },
    0,
  );
