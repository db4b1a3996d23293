import { openApiDocument } from '#test/support/operations.ts';

interface Media {
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, Media> }>;
}

interface Route {
  method: string;
  path: RegExp;
  operation: Operation;
}

const DONE = 'id: 1\nevent: done\ndata: {"status":"succeeded","error":null,"result":{}}\n\n';

/** Answers each operation of the OpenAPI document with the document's own example, and notes what was called. */
export class ExampleServer {
  readonly called = new Set<string>();
  readonly #routes: readonly Route[];
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request) => this.#answer(request),
  });

  private constructor(routes: readonly Route[]) {
    this.#routes = routes;
  }

  static async start(): Promise<ExampleServer> {
    const { paths } = (await openApiDocument()) as unknown as { paths: Record<string, Record<string, Operation>> };
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: new RegExp(`^${path.replaceAll('.', String.raw`\.`).replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
        operation,
      })),
    );
    return new ExampleServer(routes);
  }

  get url(): string {
    return this.#server.url.origin;
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    await request.arrayBuffer();
    // Literal paths stand before those with parameters that match them too.
    const route = this.#routes
      .filter(({ method, path }) => method === request.method && path.test(pathname))
      .sort((a, b) => a.path.source.split('[^/]+').length - b.path.source.split('[^/]+').length)[0];
    if (route === undefined)
      return Response.json(
        { code: 'NOT_FOUND', message: `no such path: ${pathname}`, hint: 'none', retryable: false },
        { status: 404 },
      );
    this.called.add(route.operation.operationId);
    return exampleReply(route.operation);
  }
}

/** The reply of a success: the accepted operation where there is one. */
const exampleReply = ({ responses }: Operation): Response => {
  const status = ['202', '201', '200'].find((each) => responses[each] !== undefined) ?? '200';
  const [type = 'text/plain', media] = Object.entries(responses[status]?.content ?? {})[0] ?? [];
  if (type === 'text/event-stream') return new Response(DONE, { headers: { 'content-type': type } });
  if (type !== 'application/json') return new Response('an example\n', { headers: { 'content-type': type } });
  const body = media?.example ?? Object.values(media?.examples ?? {})[0]?.value ?? {};
  return Response.json(body, { status: Number(status) });
};
