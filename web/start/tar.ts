import { createTarDecoder, type ParsedTarEntry, type TarHeader } from 'modern-tar';
import { createListing, mayBeIgnoreFile, pathOf, planOf, type Listed, type Plan } from './archive-plan.ts';
import { damaged } from './damaged.ts';
import type { Source, SourceFile } from './source.ts';

/**
 * Reads a tar twice: for what is in it, and when it is packed. A gzipped one without a folder around it is what the server
 * takes, and goes up as it is.
 */
export const readTar = async (name: string, file: File, gzipped: boolean): Promise<Source> => {
  const open = (): ReadableStream<Uint8Array<ArrayBuffer>> =>
    gzipped ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream();
  const plan = await damaged.unless(file.name, () => look(file.name, open()));
  if (gzipped && plan.top === '') return { name, archive: file };
  const { files, bytes, left } = plan;
  return { name, files, bytes, left, read: (signal) => filesOf(open(), plan, signal) };
};

const look = async (archive: string, bytes: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Plan> => {
  const listing = createListing(archive);
  const ignoreTexts = new Map<string, string>();
  for await (const { header, body } of entriesOf(bytes)) {
    const listed = listedOf(header);
    listing.add(listed);
    if (listed.kind === 'file' && mayBeIgnoreFile(header.name))
      ignoreTexts.set(pathOf(header.name), await new Response(body).text());
    else await body.cancel();
  }
  if (listing.entries.length === 0) throw new Error('it has no entries');
  return planOf(listing.entries, ignoreTexts);
};

async function* filesOf(
  bytes: ReadableStream<Uint8Array<ArrayBuffer>>,
  plan: Plan,
  signal: AbortSignal,
): AsyncGenerator<SourceFile> {
  for await (const { header, body } of entriesOf(bytes)) {
    signal.throwIfAborted();
    const { kind, bytes: size, link } = listedOf(header);
    const path = kind === 'directory' ? undefined : plan.keep(header.name);
    if (path === undefined) {
      await body.cancel();
      continue;
    }
    const executable = ((header.mode ?? 0) & 0o100) !== 0;
    if (link !== undefined) await body.cancel();
    yield { path, bytes: size, executable, link, open: () => body as ReadableStream<Uint8Array<ArrayBuffer>> };
  }
}

async function* entriesOf(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ParsedTarEntry> {
  const reader = bytes.pipeThrough(createTarDecoder({ strict: true })).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Fails again where it has failed already.
    await reader.cancel().catch(() => undefined);
  }
}

const KINDS: Partial<Record<NonNullable<TarHeader['type']>, Listed['kind']>> = {
  file: 'file',
  directory: 'directory',
  symlink: 'symlink',
};

const listedOf = ({ name, type = 'file', size, linkname }: TarHeader): Listed => {
  const kind = KINDS[type] ?? 'other';
  return { name, kind, bytes: kind === 'file' ? size : 0, link: kind === 'symlink' ? linkname : undefined };
};
