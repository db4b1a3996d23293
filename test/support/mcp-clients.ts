import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const PROGRAM = join(import.meta.dir, '../fixtures/mcp-clients/client.py');
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'berth-tests/mcp-clients');
const PYTHON_CLIENT = 'mcp==2.3.0';
const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0';
const FIRST_LINE = '@modelcontextprotocol/sdk@1.32.2';

/** How a client reaches berth. */
export type Where =
  | { kind: 'stdio'; command: string; env: Record<string, string>; cwd: string }
  | { kind: 'http'; url: string; token: string };

/** A revision of the protocol, as clients choose it: the one with a handshake, or whatever both know best. */
export type Mode = 'legacy' | 'auto';

export interface Result {
  isError?: boolean;
  content: { type: string; text: string }[];
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into results of many shapes
  structuredContent: any;
  /** Messages of the progress notifications that came. */
  progress: string[];
}

/** An official client, connected. */
export interface McpClient {
  tools(): Promise<string[]>;
  call(name: string, args: Record<string, unknown>): Promise<Result>;
  read(uri: string): Promise<string>;
  close(): Promise<void>;
}

/** The way of the TypeScript client to berth. */
export const transportOf = (where: Where) =>
  where.kind === 'http'
    ? new StreamableHTTPClientTransport(new URL(where.url), {
        requestInit: { headers: { authorization: `Bearer ${where.token}` } },
      })
    : new StdioClientTransport({
        command: where.command,
        args: ['mcp'],
        env: where.env,
        cwd: where.cwd,
        stderr: 'ignore',
      });

/** The official TypeScript client. It checks every result against the schema of its tool. */
export const openTypescript = async (where: Where, mode: Mode): Promise<McpClient> => {
  const client = new Client({ name: 'berth-test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transportOf(where));
  return {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, args) => {
      const { progress, options } = watched();
      return { ...(await client.callTool({ name, arguments: args }, options)), progress } as unknown as Result;
    },
    read: async (uri) => textOf((await client.readResource({ uri })).contents),
    close: () => client.close(),
  };
};

const watched = () => {
  const progress: string[] = [];
  const onprogress = ({ message }: { message?: string | undefined }): void => void progress.push(message ?? '');
  return { progress, options: { onprogress, timeout: 300_000 } };
};

const textOf = ([content]: object[]): string =>
  content !== undefined && 'text' in content && typeof content.text === 'string' ? content.text : '';

/** What is used here of the client of the SDK's first line. */
interface FirstLineClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(
    call: { name: string; arguments: Record<string, unknown> },
    resultSchema: undefined,
    options: ReturnType<typeof watched>['options'],
  ): Promise<Omit<Result, 'progress'>>;
  readResource(resource: { uri: string }): Promise<{ contents: object[] }>;
  close(): Promise<void>;
}

/** The official TypeScript client that most people have: the SDK's first line, which knows the handshake only. */
export const openTypescript1 = async (where: Where): Promise<McpClient> => {
  const library = join(await installed(FIRST_LINE), 'node_modules/@modelcontextprotocol/sdk/dist/esm/client');
  const { Client: First } = (await import(join(library, 'index.js'))) as {
    Client: new (info: { name: string; version: string }) => FirstLineClient;
  };
  const client = new First({ name: 'berth-test', version: '1' });
  await client.connect(await firstLineTransport(library, where));
  return {
    // It keeps the output schemas of the tools that it has listed, and checks results against them from then on.
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, args) => {
      const { progress, options } = watched();
      return { ...(await client.callTool({ name, arguments: args }, undefined, options)), progress };
    },
    read: async (uri) => textOf((await client.readResource({ uri })).contents),
    close: () => client.close(),
  };
};

const firstLineTransport = async (library: string, where: Where): Promise<unknown> => {
  if (where.kind === 'http') {
    const { StreamableHTTPClientTransport: Http } = (await import(join(library, 'streamableHttp.js'))) as {
      StreamableHTTPClientTransport: new (url: URL, options: { requestInit: RequestInit }) => unknown;
    };
    return new Http(new URL(where.url), { requestInit: { headers: { authorization: `Bearer ${where.token}` } } });
  }
  const { StdioClientTransport: Stdio } = (await import(join(library, 'stdio.js'))) as {
    StdioClientTransport: new (options: object) => unknown;
  };
  const { command, env, cwd } = where;
  return new Stdio({ command, args: ['mcp'], env, cwd, stderr: 'ignore' });
};

/** Made once by `make`, which gets a path beside it: half made ones are never seen. */
const cached = async (name: string, make: (part: string) => Promise<void>): Promise<string> => {
  const path = join(CACHE, name.replaceAll(/[^\w.-]+/g, '-'));
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const part = `${path}.${randomBytes(4).toString('hex')}.part`;
  await make(part);
  if (!existsSync(path)) renameSync(part, path);
  return path;
};

/** The folder in which a package is installed, with whatever it needs. */
const installed = (spec: string): Promise<string> =>
  cached(spec, async (part) => {
    mkdirSync(part);
    await Bun.write(join(part, 'package.json'), '{"private": true}');
    await run([process.execPath, 'add', '--exact', spec], part);
  });

const run = async (argv: string[], cwd?: string): Promise<string> => {
  const child = Bun.spawn(argv, {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    ...(cwd === undefined ? {} : { cwd }),
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${argv.join(' ')} failed: ${err}${out}`);
  return out;
};

/** The official Python client, in a process of its own. */
export const openPython = async (where: Where, mode: Mode): Promise<McpClient> => {
  const library = await cached(PYTHON_CLIENT, async (part) => {
    await run(['python3', '-m', 'pip', 'install', '--quiet', '--target', part, PYTHON_CLIENT]);
  });
  const child = Bun.spawn(['python3', PROGRAM], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
    env: { ...process.env, PYTHONPATH: library, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const lines = linesOf(child.stdout);
  const send = (message: unknown): void => {
    void child.stdin.write(`${JSON.stringify(message)}\n`);
    void child.stdin.flush();
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- the replies have many shapes
  const ask = async (request: unknown): Promise<any> => {
    send(request);
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the Python client has ended');
    const { result, error } = JSON.parse(value);
    if (error !== undefined) throw new Error(error);
    return result;
  };
  send({ ...where, mode });
  return {
    tools: async () => (await ask({ method: 'tools/list' })).tools.map((tool: { name: string }) => tool.name),
    call: (name, args) => ask({ method: 'tools/call', name, arguments: args }),
    read: async (uri) => (await ask({ method: 'resources/read', uri })).contents[0].text,
    close: async () => {
      void child.stdin.end();
      await child.exited;
    },
  };
};

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
  return undefined;
}

/** The official inspector's command line: what it prints for one method. */
export const inspect = async (where: Where, ...argv: string[]): Promise<unknown> => {
  const folder = await installed(INSPECTOR);
  const program = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const target =
    where.kind === 'stdio'
      ? [...Object.entries(where.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]), where.command, 'mcp']
      : [where.url, '--transport', 'http', '--header', `Authorization: Bearer ${where.token}`];
  return JSON.parse(await run([process.execPath, program, '--cli', ...target, ...argv]));
};
