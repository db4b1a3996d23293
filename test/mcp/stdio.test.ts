import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addProject } from '#test/modules/support/rig.ts';
import { writeFiles } from '#test/support/apps.ts';
import { atEnd } from '#test/support/preload.ts';
import { until } from '#test/support/until.ts';
import { createWorld, request } from './kit.ts';
import type { World } from '#test/app/world.ts';

const MAIN = join(import.meta.dir, '../../src/main.ts');
const INITIALIZE = request('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});
const CANCEL = (reason: string) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId: 2, reason },
});

/** `berth mcp` as an agent starts it. */
const start = (world: World, env: Record<string, string> = {}, argv: string[] = []) => {
  const [folder, home] = ['source', 'home'].map((name) => mkdtempSync(join(tmpdir(), `berth-mcp-${name}-`))) as [
    string,
    string,
  ];
  const child = Bun.spawn([process.execPath, MAIN, 'mcp', ...argv], {
    cwd: folder,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      SERVICE_ENDPOINT: world.listen().url,
      SERVICE_TOKEN: world.admin,
      ...env,
    },
  });
  atEnd(async () => {
    child.kill('SIGKILL');
    await child.exited;
    for (const path of [folder, home]) rmSync(path, { recursive: true });
  });
  const lines: string[] = [];
  const reading = (async () => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    }
    if (rest !== '') lines.push(rest);
  })();
  const errors = new Response(child.stderr).text();
  const send = (...messages: unknown[]): void => {
    for (const message of messages)
      void child.stdin.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`);
    void child.stdin.flush();
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into messages of many shapes
  const answers = (): any[] => lines.map((line) => JSON.parse(line));
  return {
    folder,
    child,
    send,
    answers,
    answer: async (id: number) => {
      await until(() => answers().some((message) => message.id === id));
      return answers().find((message) => message.id === id);
    },
    /** Closes its input, and gives what it wrote to its log. */
    end: async () => {
      void child.stdin.end();
      const code = await child.exited;
      await reading;
      return { code, log: await errors };
    },
  };
};

const furnished = () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  return world;
};

const DEPLOY = request('tools/call', { name: 'service_deploy', arguments: { project: 'shop', service: 'web' } }, 2);
const operationOf = (world: World) =>
  world.rig.operations.list({ projects: ['*'] }, { limit: 10, after: undefined })[0];

/** A deploy under way, which nobody carries out. */
const deploying = async () => {
  const world = furnished();
  const agent = start(world);
  writeFiles(agent.folder, { 'index.html': 'hello', 'node_modules/x/index.js': 'x' });
  agent.send(INITIALIZE, DEPLOY);
  await until(() => operationOf(world) !== undefined);
  return { world, agent };
};

test('answers what is piped in, writes nothing but the protocol to stdout, and ends with its input', async () => {
  const agent = start(furnished());
  agent.send(INITIALIZE, 'this is no JSON\n', request('tools/list', {}, 2));
  agent.send(request('tools/call', { name: 'service_status', arguments: { project: 'shop' } }, 3));
  const { code, log } = await agent.end();
  expect(code).toBe(0);
  expect(new Set(agent.answers().map((message) => message.id))).toEqual(new Set([1, 2, 3]));
  expect((await agent.answer(3)).result.structuredContent).toMatchObject({ name: 'shop' });
  expect(log).not.toContain('at ');
});

test('speaks the revision without sessions too', async () => {
  const agent = start(furnished());
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  agent.send(request('server/discover', { _meta }), request('tools/list', { _meta }, 2));
  expect((await agent.answer(1)).result.supportedVersions).toEqual(['2026-07-28']);
  expect((await agent.answer(2)).result.tools).toHaveLength(15);
  expect((await agent.end()).code).toBe(0);
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it', async (signal) => {
  const agent = start(furnished());
  agent.send(INITIALIZE);
  await agent.answer(1);
  agent.child.kill(signal);
  expect(await agent.child.exited).toBe(0);
});

test('packs the directory itself, and says its size before it uploads', async () => {
  const { world, agent } = await deploying();
  expect(world.deploys).toHaveLength(1);
  agent.send(CANCEL('enough'));
  expect((await agent.end()).log).toContain('1 file, 5 B');
});

test('cancelling a deploy cancels its operation', async () => {
  const { world, agent } = await deploying();
  agent.send(CANCEL('the user changed their mind'));
  const asked = () => world.rig.operations.eventsAfter(operationOf(world)?.operation_id ?? '', 0);
  await until(() => JSON.stringify(asked()).includes('cancel requested by admin'));
  const { log } = await agent.end();
  expect(log).toContain(`${operationOf(world)?.operation_id} is cancelled`);
  expect(agent.answers().map((message) => message.id)).toEqual([1]);
});

test('a client that waited long enough leaves its deploy running, and so does one that goes away', async () => {
  const { world, agent } = await deploying();
  agent.send(CANCEL('McpError: MCP error -32001: Request timed out'));
  const { log } = await agent.end();
  expect(log).toContain('goes on');
  expect(operationOf(world)?.status).toBe('queued');

  const other = await deploying();
  other.agent.child.kill('SIGTERM');
  await other.agent.child.exited;
  expect(operationOf(other.world)?.status).toBe('queued');
});

test.each([
  ['a directory that is missing', { directory: '/nowhere' }, 'there is no directory /nowhere'],
  ['an empty one', { directory: 'empty' }, 'holds no file'],
  ['a link out of the source', { directory: 'linked' }, 'leaves the source'],
])('%s is refused before anything is sent', async (_name, args, message) => {
  const world = furnished();
  const agent = start(world);
  writeFiles(agent.folder, { 'empty/.git/config': '' });
  writeFiles(agent.folder, { 'linked/index.html': '' });
  await Bun.spawn(['ln', '-s', '/etc/passwd', join(agent.folder, 'linked/passwd')]).exited;
  agent.send(
    INITIALIZE,
    request('tools/call', { name: 'service_deploy', arguments: { project: 'shop', service: 'web', ...args } }, 2),
  );
  const { result } = await agent.answer(2);
  expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'INVALID_INPUT' } } });
  expect(result.structuredContent.error.message).toContain(message);
  expect(world.deploys).toEqual([]);
});

test('a wrong token leaves the guide alone, a server that is away all tools; either is told truthfully', async () => {
  const wrong = start(furnished(), { SERVICE_TOKEN: 'brt_wrong' });
  const call = request('tools/call', { name: 'service_list_projects', arguments: {} }, 3);
  wrong.send(INITIALIZE, request('tools/list', {}, 2), call);
  expect((await wrong.answer(2)).result.tools.map((tool: { name: string }) => tool.name)).toEqual([
    'service_get_skill',
  ]);
  expect((await wrong.answer(3)).result.structuredContent.error.code).toBe('UNAUTHENTICATED');

  const away = start(furnished(), { SERVICE_ENDPOINT: 'http://127.0.0.1:9' });
  away.send(INITIALIZE, request('tools/list', {}, 2), call);
  expect((await away.answer(2)).result.tools).toHaveLength(15);
  expect((await away.answer(3)).result).toMatchObject({
    isError: true,
    structuredContent: { error: { code: 'UNREACHABLE', retryable: true } },
  });
}, 30_000);

test('without a server it says on stderr what to do, and ends', async () => {
  const agent = start(furnished(), { SERVICE_ENDPOINT: '' });
  const { code, log } = await agent.end();
  expect(code).toBe(2);
  expect(log).toContain('berth login');
  expect(agent.answers()).toEqual([]);
});
