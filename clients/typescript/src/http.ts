import { failed, failureOf, interrupted, unreachable, type Result } from './result.ts';

/** What may be sent as an archive. A function is called anew for each try. */
export type Bytes = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | (() => ReadableStream<Uint8Array>);

export interface ClientOptions {
  /** Address of the server, such as `https://apps.example.com`. */
  endpoint: string;
  token?: string;
  /** The platform's own when it is missing. */
  fetch?: typeof fetch;
  /** How often what may be retried is sent in all (4). */
  attempts?: number;
}

export type Query = Record<string, string | number | boolean | undefined>;

export interface Sending {
  method: string;
  path: string;
  query?: Query;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is bytes. */
  body?: unknown;
  bytes?: Bytes;
  signal?: AbortSignal;
}

/** Sends with retries; hands out the reply once it is a success. */
export type Send = (sending: Sending) => Promise<Result<Response>>;

const LONGEST_WAIT_MS = 30_000;

export const createSend = (options: ClientOptions): Send => {
  const endpoint = options.endpoint.replace(/\/+$/, '');
  const attempts = options.attempts ?? 4;
  const fetchOnce = options.fetch ?? fetch;
  return async (sending) => {
    const url = urlOf(endpoint, sending);
    const headers = headersOf(options.token, sending);
    for (let attempt = 1; ; attempt += 1) {
      const { result, waitMs } = await once(fetchOnce, url, { ...sending, headers });
      if (result.ok || !result.error.retryable || attempt >= attempts || sending.signal?.aborted === true)
        return result;
      const delay = waitMs ?? 250 * 2 ** attempt * (0.75 + Math.random() / 2);
      if (delay > LONGEST_WAIT_MS) return result;
      await pause(delay, sending.signal);
    }
  };
};

/** Makes what is repeated one: the server answers a repetition with the first reply. */
const headersOf = (token: string | undefined, { method, headers, body }: Sending): Record<string, string> => ({
  accept: 'application/json',
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(method === 'GET' ? {} : { 'idempotency-key': crypto.randomUUID() }),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...headers,
});

interface Attempt {
  result: Result<Response>;
  waitMs: number | undefined;
}

const once = async (fetchOnce: typeof fetch, url: string, sending: Sending): Promise<Attempt> => {
  const { method, headers = {}, body, bytes, signal } = sending;
  const init = {
    method,
    headers,
    redirect: 'manual',
    ...(signal === undefined ? {} : { signal }),
    ...(bytes === undefined ? {} : bodyOf(bytes)),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  } as RequestInit;
  try {
    const response = await fetchOnce(url, init);
    if (response.ok) return { result: { ok: true, data: response, status: response.status }, waitMs: undefined };
    return { result: failed(await failureOf(response), response.status), waitMs: retryAfter(response) };
  } catch (thrown) {
    const error = signal?.aborted === true ? interrupted() : unreachable(new URL(url).origin, thrown);
    return { result: failed(error), waitMs: undefined };
  }
};

/** Streams need `duplex`, which the types of some platforms do not know yet. */
const bodyOf = (bytes: Bytes): object =>
  typeof bytes === 'function' ? { body: bytes(), duplex: 'half' } : { body: bytes };

const urlOf = (endpoint: string, { path, query = {} }: Sending): string => {
  const url = new URL(endpoint + path);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url.href;
};

const retryAfter = (response: Response): number | undefined => {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
};

/** Ends early, without a word, when the signal aborts: whoever waited looks at it. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
