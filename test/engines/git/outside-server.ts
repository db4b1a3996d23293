import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from '#test/support/preload.ts';

/** Git as the people elsewhere use it: whatever it prints is thrown. */
export const gitHere = (cwd: string, ...args: string[]): string => {
  const run = Bun.spawnSync(['git', ...args], {
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: cwd,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_EMAIL: 'a@example.com',
      GIT_COMMITTER_NAME: 'A',
      GIT_COMMITTER_EMAIL: 'a@example.com',
      GIT_AUTHOR_DATE: '2024-01-02T03:04:05Z',
      GIT_COMMITTER_DATE: '2024-01-02T03:04:05Z',
    },
  });
  if (run.exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${run.stderr.toString()}`);
  return run.stdout.toString().trim();
};

export interface Outside {
  /** A bare repository that is served, and a work tree that pushes to it. */
  bare: string;
  work: string;
  port: number;
  /** `http://<host>:<port>/app.git` */
  url(host?: string): string;
  /** What came in, as `METHOD path?query`, with the authorization it had. */
  requests: { line: string; authorization: string | null }[];
  /** Writes a file, commits and pushes everything. */
  push(file: string, content?: string | Uint8Array): Promise<string>;
  git(...args: string[]): string;
}

export type Answer = Response | undefined | Promise<Response | undefined>;

interface Behaviour {
  /** Answers instead of git when it returns something. */
  answer?: (request: Request, url: URL) => Answer;
  tls?: { cert: string; key: string };
}

/** A git server of somebody else on 127.0.0.1: git http-backend(1) behind a plain CGI server. */
export const serveOutside = async ({ answer, tls }: Behaviour = {}): Promise<Outside> => {
  const dir = mkdtempSync(join(tmpdir(), 'outside-'));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  const bare = join(dir, 'app.git');
  const work = join(dir, 'work');
  gitHere(dir, 'init', '--quiet', '--bare', '--initial-branch=main', bare);
  gitHere(dir, 'init', '--quiet', '--initial-branch=main', work);
  gitHere(work, 'remote', 'add', 'origin', bare);
  const requests: Outside['requests'] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    ...(tls === undefined ? {} : { tls }),
    fetch: async (request) => {
      const url = new URL(request.url);
      requests.push({
        line: `${request.method} ${url.pathname}${url.search}`,
        authorization: request.headers.get('authorization'),
      });
      return (await answer?.(request, url)) ?? backend(dir, request, url);
    },
  });
  atEnd(() => server.stop(true));
  const port = server.port ?? 0;
  const git = (...args: string[]): string => gitHere(work, ...args);
  return {
    bare,
    work,
    port,
    requests,
    git,
    url: (host = 'git.example') => `${tls === undefined ? 'http' : 'https'}://${host}:${port}/app.git`,
    push: async (file, content = file) => {
      await Bun.write(join(work, file), content);
      git('add', '--all');
      git('commit', '--quiet', '--message', `Write ${file}`);
      git('push', '--quiet', '--force', '--mirror', 'origin');
      return git('rev-parse', 'HEAD');
    },
  };
};

const backend = async (root: string, request: Request, url: URL): Promise<Response> => {
  const body = new Uint8Array(await request.arrayBuffer());
  const child = Bun.spawn(['git', 'http-backend'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers.get('content-type') ?? '',
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: request.headers.get('content-encoding') ?? '',
      GIT_PROTOCOL: request.headers.get('git-protocol') ?? '',
      REMOTE_ADDR: '127.0.0.1',
    },
    stdin: body,
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const output = Buffer.from(await new Response(child.stdout).arrayBuffer());
  const end = output.indexOf('\r\n\r\n');
  const headers = new Headers();
  let status = 200;
  for (const line of output.toString('latin1', 0, end).split('\r\n')) {
    const [name = '', ...value] = line.split(': ');
    if (name === 'Status') status = Number.parseInt(value.join(': '), 10);
    else headers.append(name, value.join(': '));
  }
  return new Response(output.subarray(end + 4), { status, headers });
};
