import { randomUUID } from 'node:crypto';
import type { DryRun } from '#kernel/schema';
import { CliFailure, interrupted, Planned } from '../failure.ts';
import { failureOf, notBerth, redirected, unreachable } from './failures.ts';
import { watchConnection } from './patience.ts';
import { proxyFor } from './proxy.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RequestOptions {
  query?: Record<string, string | number | boolean | undefined>;
  json?: unknown;
  /** A body that can be made again for a retry. */
  stream?: { contentType: string; open: () => ReadableStream<Uint8Array> };
  headers?: Record<string, string>;
  /** Keeps retried mutations one; made up when missing. */
  idempotencyKey?: string;
  /** No retries: for checks that want the first answer. */
  once?: boolean;
  /** Goes where a redirect says: to files that anybody may have, without a token. */
  follow?: boolean;
}

export interface HttpOptions {
  endpoint: string;
  token: string | undefined;
  userAgent: string;
  signal: AbortSignal;
  /** Asks for the plan of every change instead; the first reply is thrown as `Planned`. */
  dryRun: boolean;
  /** Told before each retry. */
  onRetry: (cause: CliFailure, delayMs: number) => void;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>>;
  /** Certificates of authorities to trust besides the known ones, PEM. */
  ca?: string | undefined;
  /** Where HTTPS_PROXY and the like are read, for messages. */
  env?: Readonly<Record<string, string | undefined>>;
  /** How requests are carried out; over the network when missing. */
  fetch?: (url: URL, init: RequestInit) => Promise<Response>;
}

/** HTTP as the API speaks it: bearer token, error objects, idempotency keys, retries of what may be retried. */
export interface Http {
  /** Sends, and reads the JSON reply. */
  json<T>(method: Method, path: string, options?: RequestOptions): Promise<T>;
  /** Sends, and hands out the reply once it is a success. */
  open(method: Method, path: string, options?: RequestOptions): Promise<Response>;
  readonly signal: AbortSignal;
  readonly sleep: HttpOptions['sleep'];
}

const ATTEMPTS = 4;
const LONGEST_WAIT_MS = 30_000;

export const createHttp = (options: HttpOptions): Http => {
  const open = async (method: Method, path: string, request: RequestOptions = {}): Promise<Response> => {
    const url = urlOf(options.endpoint, path, request.query);
    // What is sent once only needs no key.
    const key = method === 'GET' || request.once === true ? undefined : (request.idempotencyKey ?? randomUUID());
    for (let attempt = 1; ; attempt += 1) {
      const result = await send(options, url, { method, request, key });
      if (result instanceof Response) return result;
      if (request.once === true || attempt >= ATTEMPTS || !result.failure.body.retryable) throw result.failure;
      const delay = result.waitMs ?? 250 * 2 ** attempt * (0.75 + Math.random() / 2);
      if (delay > LONGEST_WAIT_MS) throw result.failure;
      options.onRetry(result.failure, delay);
      await options.sleep(delay, options.signal);
      stopIfInterrupted(options.signal);
    }
  };
  return {
    open,
    signal: options.signal,
    sleep: options.sleep,
    json: async <T>(method: Method, path: string, request: RequestOptions = {}) => {
      const planned = options.dryRun && method !== 'GET';
      const response = await open(method, path, {
        ...request,
        query: { ...request.query, ...(planned ? { dry_run: true } : {}) },
        headers: { accept: 'application/json', ...request.headers },
      });
      const url = urlOf(options.endpoint, path, undefined);
      if (planned) throw new Planned(await readJson<DryRun>(response, url));
      return readJson<T>(response, url);
    },
  };
};

const readJson = async <T>(response: Response, url: URL): Promise<T> => {
  if (response.status === 204) return {} as T;
  try {
    return (await response.json()) as T;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) throw notBerth(response, url);
    throw unreachable(thrown, url);
  }
};

const urlOf = (endpoint: string, path: string, query: RequestOptions['query']): URL => {
  const url = new URL(endpoint + path);
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
};

interface Sending {
  method: Method;
  request: RequestOptions;
  key: string | undefined;
}

interface Refusal {
  failure: CliFailure;
  waitMs: number | undefined;
}

const send = async (options: HttpOptions, url: URL, { method, request, key }: Sending): Promise<Response | Refusal> => {
  const headers: Record<string, string> = { 'user-agent': options.userAgent, ...options.headers, ...request.headers };
  if (options.token !== undefined) headers['authorization'] = `Bearer ${options.token}`;
  if (key !== undefined) headers['idempotency-key'] = key;
  const upload = request.stream === undefined ? undefined : watched(request.stream.open());
  if (request.stream !== undefined) headers['content-type'] = request.stream.contentType;
  else if (request.json !== undefined) headers['content-type'] = 'application/json';
  const proxy = proxyFor(url, options.env ?? {});
  const patience =
    options.fetch === undefined ? watchConnection(proxy === undefined ? url : new URL(proxy)) : undefined;
  const body = upload?.body ?? (request.json === undefined ? null : JSON.stringify(request.json));
  try {
    // `timeout: false`: streams may be quiet for longer than Bun's default.
    const init = {
      method,
      headers,
      body,
      signal: AbortSignal.any([options.signal, ...(patience === undefined ? [] : [patience.signal])]),
      redirect: request.follow === true ? 'follow' : 'manual',
      duplex: 'half',
      timeout: false,
      ...(options.ca === undefined ? {} : { tls: { ca: options.ca } }),
    } as RequestInit;
    const response = await (options.fetch ?? fetch)(url, init);
    if (response.status < 300) return response;
    const failure = response.status < 400 ? redirected(response, url) : await failureOf(response, url);
    return { failure, waitMs: retryAfter(response) };
  } catch (thrown) {
    stopIfInterrupted(options.signal);
    // A body that could not be made is the cause, not the connection that broke off because of it.
    if (upload?.failure() instanceof CliFailure) throw upload.failure();
    return {
      failure: thrown instanceof CliFailure ? thrown : unreachable(thrown, url, proxy),
      waitMs: undefined,
    };
  } finally {
    patience?.end();
  }
};

/** Seconds or a date (RFC 9110, 10.2.3), as milliseconds from now. */
const retryAfter = (response: Response): number | undefined => {
  const text = response.headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
};

/** Passes a body on and remembers what made it fail, because `fetch` reports that as a lost connection. */
const watched = (source: ReadableStream<Uint8Array>): { body: ReadableStream<Uint8Array>; failure: () => unknown } => {
  const reader = source.getReader();
  let failure: unknown;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (thrown) {
        failure = thrown;
        controller.error(thrown);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { body, failure: () => failure };
};

const stopIfInterrupted = (signal: AbortSignal): void => {
  if (signal.aborted) throw interrupted('interrupted', 'nothing more was sent');
};
