import { createHash } from 'node:crypto';
import { BerthError, invalidInput } from '#kernel/errors';

/** Largest JSON body: the largest setEnv that its schema allows would pass it, real ones come nowhere near. */
export const MAX_JSON_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 32;

export const bodyTooLarge = (): BerthError =>
  new BerthError('INVALID_INPUT', `the body is larger than ${MAX_JSON_BYTES / 1024 / 1024} MiB`, {
    hint: 'send less at once',
    httpStatus: 413,
  });

export interface JsonBody {
  value: unknown;
  /** SHA-256 of the bytes, in hex. */
  digest: string;
}

/** Reads a JSON body within bounds; undefined when there is none. Whatever is wrong with it is INVALID_INPUT. */
export const readJson = async (request: Request): Promise<JsonBody | undefined> => {
  const bytes = await readBounded(request);
  if (bytes.length === 0) return undefined;
  const contentType = request.headers.get('content-type') ?? '';
  if (!/^application\/json *(?:;|$)/i.test(contentType)) {
    throw invalidInput(
      contentType === ''
        ? 'the body has no content type'
        : `the content type "${contentType.slice(0, 80)}" is not accepted here`,
      'send JSON with the header "Content-Type: application/json"',
    );
  }
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    throw invalidInput(
      `the content encoding "${encoding.slice(0, 40)}" is not accepted here`,
      'send JSON uncompressed',
    );
  const value = parse(decode(bytes));
  inspect(value, 'body', 0);
  return { value, digest: createHash('sha256').update(bytes).digest('hex') };
};

const readBounded = async (request: Request): Promise<Uint8Array> => {
  if (request.body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.length;
    if (size > MAX_JSON_BYTES) throw bodyTooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
};

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw new BerthError('INVALID_INPUT', 'the body is not valid UTF-8', {
      hint: 'encode JSON as UTF-8',
      cause: thrown,
    });
  }
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new BerthError('INVALID_INPUT', 'the body is not valid JSON', {
      hint: 'send one JSON object; check quotes, commas and brackets',
      cause: thrown,
    });
  }
};

/** Refuses what no field of the API can mean, and what bites later: deep nesting, `__proto__`, NUL. */
const inspect = (value: unknown, path: string, depth: number): void => {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw invalidInput(`${path} contains a NUL character`, 'remove it');
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth >= MAX_DEPTH)
    throw invalidInput(`the body is nested deeper than ${MAX_DEPTH} levels`, 'send the shape that /v1/openapi shows');
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__' || key.includes('\0')) {
      throw invalidInput(`${path} has the key ${JSON.stringify(key.slice(0, 60))}, which is never valid`, 'remove it');
    }
    inspect(item, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key.slice(0, 60)}`, depth + 1);
  }
};
