import { endWithParent, readOptions, ready } from '../kit/process-side.ts';

export interface GitCgiOptions {
  port: number;
  /** Folder with the repositories. */
  root: string;
}

const { port, root } = readOptions() as GitCgiOptions;

/** `git http-backend` as a plain CGI server runs it (RFC 3875): a process for each request, both ways streamed. */
const handle = async (request: Request): Promise<Response> => {
  const url = new URL(request.url);
  const child = Bun.spawn(['git', 'http-backend'], {
    stdin: request.body ?? 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    env: {
      PATH: process.env['PATH'] ?? '',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      REMOTE_USER: 'bench',
      REMOTE_ADDR: '127.0.0.1',
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers.get('content-type') ?? '',
      CONTENT_LENGTH: request.headers.get('content-length') ?? '',
      HTTP_CONTENT_ENCODING: request.headers.get('content-encoding') ?? '',
      GIT_PROTOCOL: request.headers.get('git-protocol') ?? '',
    },
  });
  const output = child.stdout.getReader();
  let head = Buffer.alloc(0);
  while (!head.includes('\r\n\r\n')) {
    const { value, done } = await output.read();
    if (done) return new Response('the program ended without an answer', { status: 502 });
    head = Buffer.concat([head, value]);
  }
  const end = head.indexOf('\r\n\r\n');
  const headers = new Headers();
  let status = 200;
  for (const line of head.subarray(0, end).toString().split('\r\n')) {
    const [name = '', ...rest] = line.split(':');
    const value = rest.join(':').trim();
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else headers.set(name, value);
  }
  const rest = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(head.subarray(end + 4))),
    pull: async (controller) => {
      const { value, done } = await output.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => child.kill(),
  });
  return new Response(rest, { status, headers });
};

Bun.serve({ hostname: '127.0.0.1', port, fetch: handle, idleTimeout: 0, maxRequestBodySize: 4 * 1024 ** 3 });
endWithParent();
ready();
