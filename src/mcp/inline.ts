import { createGzip } from 'node:zlib';
import { Type, type Static } from '@sinclair/typebox';
import { pack } from 'tar-stream';
import { invalidInput } from '#kernel/errors';
import type { Call } from './tool.ts';

const MAX_FILES = 2000;
/** The request as a whole has at most 4 MiB, as JSON. */
const MAX_BYTES = 3 * 1024 * 1024;

/** Files of a source, given in the call. */
export const InlineFiles = Type.Array(
  Type.Object(
    {
      path: Type.String({ minLength: 1, maxLength: 1000, description: 'relative to the root of the source, with /' }),
      content: Type.String({ description: 'the whole file' }),
      encoding: Type.Optional(
        Type.Unsafe<'utf-8' | 'base64'>(
          Type.Union([Type.Literal('utf-8'), Type.Literal('base64')], {
            description: 'of content; utf-8 when omitted',
          }),
        ),
      ),
      executable: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
  { minItems: 1, maxItems: MAX_FILES, description: 'all files of the source' },
);

/** The files as the gzipped tar that a deploy takes. The server judges the paths, as it does with every upload. */
export const packFiles = async (call: Call, files: Static<typeof InlineFiles>) => {
  const entries = files.map((file, index) => ({ ...file, bytes: bytesOf(file, index) }));
  const total = entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > MAX_BYTES)
    throw invalidInput(
      `arguments.files has ${total} bytes, and at most ${MAX_BYTES} can be given inline`,
      'commit them with service_commit_files to a repository that deploys the service, or run "berth mcp" where the source is',
    );
  call.progress.report(`packing ${entries.length} files, ${total} bytes`, 0);
  const tar = pack();
  const packed = tar.pipe(createGzip());
  for (const { path, bytes, executable } of entries)
    tar.entry({ name: path, mode: executable === true ? 0o755 : 0o644, mtime: new Date(0) }, bytes);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of packed as AsyncIterable<Buffer>) chunks.push(chunk);
  const archive = Buffer.concat(chunks);
  return { contentType: 'application/gzip', open: () => new Blob([archive]).stream() };
};

const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

const bytesOf = ({ content, encoding }: Static<typeof InlineFiles>[number], index: number): Buffer => {
  if (encoding !== 'base64') return Buffer.from(content, 'utf8');
  if (BASE64.test(content)) return Buffer.from(content, 'base64');
  throw invalidInput(`arguments.files[${index}].content is no base64`, 'encode it, or leave encoding out for text');
};
