import { Readable } from 'node:stream';
import busboy from 'busboy';
import { BerthError, invalidInput } from '#kernel/errors';
import type { Clock } from '#kernel/clock';
import { receive, type Received } from '#engines/source/receive';

export interface UploadRequest {
  request: Request;
  /** File to create. */
  file: string;
  maxBytes: number;
  clock: Clock;
}

const IDLE_MS = 60_000;
const TOTAL_MS = 60 * 60_000;
/** The first bytes of every gzip file. */
const GZIP = [0x1f, 0x8b];
const RAW_TYPES = new Set([
  'application/gzip',
  'application/x-gzip',
  'application/x-tar',
  'application/octet-stream',
  'application/tar+gzip',
]);

/**
 * Streams the source of a deploy to a file: the raw body, or the field `source` of a multipart form. What is no gzip is
 * refused at once; the rest of the archive is checked when it is unpacked.
 */
export const receiveSource = async (upload: UploadRequest): Promise<Received> => {
  const received = await receiveBody(upload);
  const start = new Uint8Array(await Bun.file(upload.file).slice(0, GZIP.length).arrayBuffer());
  if (GZIP.every((byte, index) => start[index] === byte)) return received;
  throw invalidInput(
    'the source is not gzipped',
    'send the source directory packed as .tar.gz, for example with: tar -czf source.tar.gz -C <directory> .',
  );
};

const receiveBody = async ({ request, file, maxBytes, clock }: UploadRequest): Promise<Received> => {
  const { body } = request;
  if (body === null)
    throw invalidInput(
      'the request has no body',
      'send the source directory as a gzipped tar, Content-Type: application/gzip',
    );
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const limits = { file, maxBytes, idleMs: IDLE_MS, totalMs: TOTAL_MS, clock, signal: request.signal };
  if (type === 'multipart/form-data')
    return receiveField(request, body, (field) => receive({ ...limits, body: field }));
  if (type !== '' && !RAW_TYPES.has(type)) {
    throw invalidInput(
      `Content-Type "${type}" is no source archive`,
      'send application/gzip (the raw archive) or multipart/form-data with the field "source"',
    );
  }
  const declared = Number(request.headers.get('content-length') ?? 'x');
  return receive({ ...limits, body, ...(Number.isSafeInteger(declared) ? { declaredBytes: declared } : {}) });
};

const receiveField = (
  request: Request,
  body: ReadableStream<Uint8Array>,
  store: (field: ReadableStream<Uint8Array>) => Promise<Received>,
): Promise<Received> =>
  new Promise((resolve, reject) => {
    let stored: Promise<Received> | undefined;
    const input = Readable.fromWeb(body as never);
    const fail = (error: unknown): void => {
      input.destroy();
      reject(error instanceof BerthError ? error : unreadable(error));
    };
    const form = openForm(request, fail);
    if (form === undefined) return;
    form.on('file', (name, stream) => {
      if (name !== 'source' || stored !== undefined) {
        stream.resume();
        return;
      }
      stored = store(Readable.toWeb(stream) as unknown as ReadableStream<Uint8Array>);
      stored.catch(fail);
    });
    form.on('close', () => {
      if (stored === undefined)
        fail(invalidInput('the form has no file field "source"', 'send the gzipped tar as the file field "source"'));
      else stored.then(resolve, fail);
    });
    form.on('error', fail);
    input.on('error', fail);
    input.pipe(form);
  });

const openForm = (request: Request, fail: (error: unknown) => void): busboy.Busboy | undefined => {
  try {
    return busboy({
      headers: Object.fromEntries(request.headers) as { 'content-type': string },
      limits: { files: 5, fields: 20 },
    });
  } catch (error) {
    fail(error);
    return undefined;
  }
};

const unreadable = (cause: unknown): BerthError =>
  new BerthError('INVALID_INPUT', 'the multipart form cannot be read', {
    hint: 'send multipart/form-data with the gzipped tar as the file field "source"',
    cause,
  });
