import type { ErrorBody } from '#kernel/errors';

/** What the API refused, or what kept the request from it. */
export class ApiError extends Error {
  readonly code: string;
  readonly hint: string;
  readonly retryable: boolean;
  readonly log_tail: string | undefined;
  /** 0 when there was no reply. */
  readonly status: number;
  readonly requestId: string | undefined;
  /** When it is worth trying again, by this browser's clock; where the server says so. */
  readonly retryAt: number | undefined;

  constructor(body: Omit<ErrorBody, 'code'> & { code: string }, status: number, requestId?: string, retryAt?: number) {
    super(body.message);
    this.name = 'ApiError';
    this.code = body.code;
    this.hint = body.hint;
    this.retryable = body.retryable;
    this.log_tail = body.log_tail;
    this.status = status;
    this.requestId = requestId;
    this.retryAt = retryAt;
  }
}

/** Makes an ApiError of whatever was thrown, so that every failure can be shown the same way. */
export const asApiError = (thrown: unknown): ApiError => {
  if (thrown instanceof ApiError) return thrown;
  if (isErrorBody(thrown)) return new ApiError(thrown, 0);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new ApiError(
    { code: 'PAGE_FAULT', message, hint: 'reload the page; report it if it comes back', retryable: true },
    0,
  );
};

export type Query = Record<string, string | number | boolean | null | undefined>;

export interface RequestOptions {
  query?: Query;
  json?: unknown;
  signal?: AbortSignal;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

let onSignedOut = (): void => undefined;

/** Sets what happens when the server no longer knows the session. */
export const whenSignedOut = (listener: () => void): void => {
  onSignedOut = listener;
};

let onRefused = (): void => undefined;

/** Sets what happens when the server refuses what the page thought the token may do. */
export const whenRefused = (listener: () => void): void => {
  onRefused = listener;
};

/** `/v1/…` with each part encoded: names and ids never change what is asked for. */
export const at = (...parts: string[]): string => `/v1/${parts.map(encodeURIComponent).join('/')}`;

export const withQuery = (path: string, query: Query = {}): string => {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') search.set(key, String(value));
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
};

/** Says to the server that this page sent it: no form of another page can. */
export const OWN_REQUEST = { 'x-berth-request': '1' };

/** Sends a request with the session's cookie; throws ApiError. */
export const send = async (
  method: Method,
  path: string,
  { query, json, signal }: RequestOptions = {},
): Promise<Response> => {
  let response: Response;
  try {
    response = await fetch(withQuery(path, query), {
      method,
      credentials: 'same-origin',
      headers: { ...OWN_REQUEST, ...(json !== undefined && { 'content-type': 'application/json' }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(signal !== undefined && { signal }),
    });
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === 'AbortError') throw thrown;
    throw unreachable();
  }
  if (response.ok) return response;
  const { headers } = response;
  throw failureOf(response.status, await response.text(), headers.get('x-request-id'), headers.get('retry-after'));
};

/** The reply as what the server's model says it is. */
export const call = async <T>(method: Method, path: string, options?: RequestOptions): Promise<T> =>
  (await send(method, path, options)).json() as Promise<T>;

/** A list read to its end, page by page. */
export const callAll = async <T>(path: string, plural: string, options: RequestOptions = {}): Promise<T[]> => {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page = await call<Record<string, unknown>>('GET', path, {
      ...options,
      query: { limit: 200, ...options.query, cursor },
    });
    items.push(...(page[plural] as T[]));
    cursor = page['next_cursor'] as string | null;
  } while (cursor !== null);
  return items;
};

/** The error of a refused reply, by its status and text. */
export const failureOf = (
  status: number,
  text: string,
  requestId: string | null = null,
  retryAfter: string | null = null,
): ApiError => {
  const body = errorBody(text);
  if (status === 401) onSignedOut();
  if (body?.code === 'CAPABILITY_MISSING') onRefused();
  return new ApiError(body ?? stranger(status), status, requestId ?? undefined, retryTime(retryAfter));
};

/** From `retry-after` in seconds (RFC 9110, 10.2.3), as berth writes it. */
const retryTime = (seconds: string | null): number | undefined =>
  seconds !== null && /^\d{1,6}$/.test(seconds) ? Date.now() + Number(seconds) * 1000 : undefined;

const errorBody = (text: string): ErrorBody | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isErrorBody(value) ? value : undefined;
  } catch {
    // Not from berth: a proxy in between, or a server that is just being exchanged.
    return undefined;
  }
};

const isErrorBody = (value: unknown): value is ErrorBody =>
  typeof value === 'object' && value !== null && 'code' in value && 'message' in value && 'hint' in value;

const stranger = (status: number) => ({
  code: 'UNREACHABLE',
  message: `the server answered ${status}, but not as berth does`,
  hint: 'a proxy in between may not reach it: check that berth runs, then try again',
  retryable: true,
});

export const unreachable = (): ApiError =>
  new ApiError(
    {
      code: 'UNREACHABLE',
      message: 'the server cannot be reached',
      hint: 'check the network, and that berth runs (systemctl status berth), then try again',
      retryable: true,
    },
    0,
  );
