import { Readable, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BerthError, invalidInput } from '#kernel/errors';
import type { RpcRequest } from './port.ts';

export interface BodyLimits {
  /** Of the bytes as git gets them, that is after inflation. */
  maxBytes: number;
  /** Without a byte from the client for so long, it counts as gone. */
  idleMs: number;
}

type Body = Pick<RpcRequest, 'body' | 'gzip' | 'signal'>;

/** The bytes of a request as they come; what is too long, too slow or no gzip throws. */
export async function* readBody(
  { body, gzip, signal }: Body,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array, void, void> {
  const raw = attentive(body, signal, limits.idleMs);
  let size = 0;
  for await (const chunk of gzip ? inflate(raw) : raw) {
    size += chunk.length;
    if (size > limits.maxBytes) throw tooLarge(limits.maxBytes);
    yield chunk;
  }
}

/** Its clock runs only while the client is waited for. */
async function* attentive(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  idleMs: number,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await waitFor(reader, signal, idleMs);
      if (done) return;
      yield value;
    }
  } finally {
    // Whoever sends on sends into the void.
    void reader.cancel().catch(() => undefined);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

const waitFor = (reader: Reader, signal: AbortSignal, idleMs: number): ReturnType<Reader['read']> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(() => leave(stalled(idleMs)), idleMs);
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    const leave = (reason: unknown): void => {
      settle();
      reject(reason);
    };
    const abort = (): void => leave(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    reader.read().finally(settle).then(resolve, reject);
  });

async function* inflate(raw: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const gunzip = createGunzip();
  // The error arrives in the loop below.
  pipeline(Readable.from(raw), gunzip, () => undefined);
  try {
    yield* gunzip as AsyncIterable<Uint8Array>;
  } catch (thrown) {
    if (thrown instanceof BerthError) throw thrown;
    throw new BerthError('INVALID_INPUT', 'the body is not valid gzip', {
      hint: 'send it whole, or without Content-Encoding',
      cause: thrown,
    });
  }
}

const stalled = (idleMs: number): BerthError =>
  new BerthError('TIMEOUT', `no byte came for ${Math.ceil(idleMs / 1000)} s`, {
    hint: 'check the network, then push or fetch again',
    retryable: true,
    httpStatus: 408,
  });

const tooLarge = (maxBytes: number): BerthError =>
  new BerthError('INVALID_INPUT', `the request is larger than ${maxBytes} bytes`, {
    hint: 'send less at once',
    httpStatus: 413,
  });

/** For what a client of git's protocol would never send. */
export const malformed = (what: string): BerthError =>
  invalidInput(what, 'use a git client, or follow gitprotocol-http(5)');
