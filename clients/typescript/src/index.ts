import { followOperation, type Follow, type FollowOptions, type OperationEnd } from './follow.ts';
import { createSend, type Bytes, type ClientOptions, type Query } from './http.ts';
import { failed, type Result } from './result.ts';
import type { Accepted, Paths } from './types.ts';

export type { StreamEvent } from './events.ts';
export type { Follow, FollowOptions, OperationEnd } from './follow.ts';
export type { Bytes, ClientOptions } from './http.ts';
export type { Failure, Result } from './result.ts';
export type * from './types.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type PathsWith<M extends Method> = { [P in keyof Paths]: Paths[P] extends Record<M, unknown> ? P : never }[keyof Paths];
type Operation<P extends keyof Paths, M extends Method> = Paths[P] extends Record<M, infer O> ? O : never;
type Need<O, K extends string> =
  O extends Record<K, infer V> ? (object extends V ? { [N in K]?: V } : { [N in K]: V }) : unknown;
type Reply<O> = O extends { reply: infer R } ? R : never;

export interface RequestOptions {
  signal?: AbortSignal;
  /** Makes repetitions one, also across processes; made up when it is missing. */
  idempotencyKey?: string;
}

type Input<O> = Need<O, 'path'> & Need<O, 'query'> & Need<O, 'body'> & RequestOptions;
type Arguments<O> = object extends Input<O> ? [input?: Input<O>] : [input: Input<O>];
type Verb<M extends Method> = <P extends PathsWith<M>>(
  path: P,
  ...input: Arguments<Operation<P, M>>
) => Promise<Result<Reply<Operation<P, M>>>>;

export interface DeployOptions extends FollowOptions {
  project: string;
  service: string;
  /** The source directory as a gzipped tar. */
  archive: Bytes;
  noCache?: boolean;
  /** That the source was taken from: 7 to 64 hex digits. */
  commit?: string;
  idempotencyKey?: string;
}

/** The API, typed by its own specification: `berth.get('/v1/projects/{project}', { path: { project: 'shop' } })`. */
export interface Berth {
  get: Verb<'GET'>;
  post: Verb<'POST'>;
  put: Verb<'PUT'>;
  patch: Verb<'PATCH'>;
  delete: Verb<'DELETE'>;
  /** Events of an operation until it ends, over broken connections. */
  follow: Follow;
  /** Uploads a source, and waits until it is live or has failed. */
  deploy(options: DeployOptions): Promise<Result<OperationEnd>>;
}

interface Given extends RequestOptions {
  path?: Record<string, string>;
  query?: Query;
  body?: unknown;
}

export const createClient = (options: ClientOptions): Berth => {
  const send = createSend(options);
  const verb =
    (method: Method) =>
    async (
      template: string,
      { path = {}, query = {}, body, signal, idempotencyKey }: Given = {},
    ): Promise<Result<unknown>> => {
      const sent = await send({
        method,
        path: fill(template, path),
        query,
        headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
        ...(isBytes(body) ? { bytes: body } : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
      return sent.ok ? read(sent.data) : sent;
    };
  const follow: Follow = (id, more = {}) => followOperation(send, id, more);
  const berth: Berth = {
    get: verb('GET') as Verb<'GET'>,
    post: verb('POST') as Verb<'POST'>,
    put: verb('PUT') as Verb<'PUT'>,
    patch: verb('PATCH') as Verb<'PATCH'>,
    delete: verb('DELETE') as Verb<'DELETE'>,
    follow,
    deploy: async ({ project, service, archive, noCache, commit, idempotencyKey, ...more }) => {
      const sent = await send({
        method: 'POST',
        path: fill('/v1/projects/{project}/services/{service}/deploys', { project, service }),
        query: { no_cache: noCache, commit },
        headers: {
          'content-type': 'application/gzip',
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        bytes: archive,
        ...(more.signal === undefined ? {} : { signal: more.signal }),
      });
      if (!sent.ok) return sent;
      const accepted = await read<Accepted>(sent.data);
      return accepted.ok ? follow(accepted.data.operation_id, more) : accepted;
    },
  };
  return berth;
};

const fill = (template: string, values: Record<string, string>): string =>
  template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(values[name] ?? ''));

const isBytes = (body: unknown): body is Bytes =>
  body instanceof Blob || body instanceof ArrayBuffer || body instanceof Uint8Array || typeof body === 'function';

/** JSON is read; anything else (archives, texts, streams) is handed on as the reply itself. */
const read = async <T>(response: Response): Promise<Result<T>> => {
  const { status } = response;
  if (status === 204) return { ok: true, data: undefined as T, status };
  if (response.headers.get('content-type')?.startsWith('application/json') !== true)
    return { ok: true, data: response as T, status };
  try {
    return { ok: true, data: (await response.json()) as T, status };
  } catch (thrown) {
    return failed(
      {
        code: 'UNREACHABLE',
        message: `the reply broke off: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        hint: 'send it again with the same idempotency key',
        retryable: true,
      },
      status,
    );
  }
};
