import type { ErrorBody } from '#kernel/errors';

export interface Seen {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

type Answer = Response | ((seen: Seen) => Response | Promise<Response>);

/** An HTTP server that answers as the contract says, one prepared answer after the other; the last one stays. */
export class ContractServer {
  readonly seen: Seen[] = [];
  readonly #answers = new Map<string, Answer[]>();
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request) => this.#handle(request),
  });

  get url(): string {
    return this.#server.url.origin;
  }

  /** Prepares the answers of `GET /v1/projects` and the like. */
  on(route: string, ...answers: Answer[]): this {
    this.#answers.set(route, answers);
    return this;
  }

  requests(route: string): Seen[] {
    return this.seen.filter((seen) => `${seen.method} ${seen.path}` === route);
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #handle(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const seen: Seen = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: new Uint8Array(await request.arrayBuffer()),
    };
    this.seen.push(seen);
    const answers = this.#answers.get(`${seen.method} ${seen.path}`) ?? [];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer === undefined)
      return refusal(404, { code: 'NOT_FOUND', message: `nothing prepared at ${seen.method} ${seen.path}` });
    return typeof answer === 'function' ? answer(seen) : answer.clone();
  }
}

export const json = (body: unknown, status = 200): Response => Response.json(body, { status });

export const refusal = (
  status: number,
  body: Partial<ErrorBody> & { code: ErrorBody['code'] },
  headers: Record<string, string> = {},
): Response =>
  Response.json({ message: 'refused', hint: 'do something else', retryable: false, ...body }, { status, headers });

export interface SentEvent {
  id?: number;
  event: string;
  data: unknown;
}

/** A stream of events, which ends well or (`broken`) in the middle of a line. */
export const sse = (events: readonly SentEvent[], options: { broken?: boolean; open?: boolean } = {}): Response => {
  const text = events
    .map(
      ({ id, event, data }) =>
        `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
    )
    .join('');
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(
        new TextEncoder().encode(`: berth\n\n${text}${options.broken === true ? 'id: 99\nevent: lo' : ''}`),
      );
      if (options.open !== true) controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};

export const operation = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  operation_id: 'op_1',
  kind: 'deploy',
  project: 'shop',
  service: 'web',
  status: 'succeeded',
  phase: 'healthy',
  created_at: '2026-11-21T10:00:00.000Z',
  started_at: '2026-11-21T10:00:00.000Z',
  finished_at: '2026-11-21T10:00:05.000Z',
  created_by: 'tester',
  error: null,
  result: {},
  stream_url: '/v1/operations/op_1/stream',
  service_url: 'http://web--shop.localhost',
  ...fields,
});
