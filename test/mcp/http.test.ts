import { describe, expect, test } from 'bun:test';
import { CAPABILITIES } from '#kernel/scope';
import { toolsOf } from '#src/mcp/tools/index.ts';
import { addProject, addService, ctx } from '#test/modules/support/rig.ts';
import { until } from '#test/support/until.ts';
import { ask, callTool, createWorld, HEADERS, messagesOf, namesFor, post, request, tokenWith } from './kit.ts';

const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

/** What every request carries since revision 2026-07-28. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const modern = (method: string): Record<string, string> => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
});

/** Arguments that fit each tool. */
const EXAMPLES: Record<string, Record<string, unknown>> = {
  service_list_projects: {},
  service_create_project: { name: 'shop' },
  service_status: { project: 'shop' },
  service_deploy: { project: 'shop', service: 'web', files: [{ path: 'index.html', content: 'x' }] },
  service_operation: { operation_id: 'op_1' },
  service_logs: { project: 'shop', service: 'web' },
  service_scale: { project: 'shop', service: 'web', replicas: 2 },
  service_rollback: { project: 'shop', service: 'web' },
  service_set_env: { project: 'shop', env: { A: 'b' } },
  service_add_datastore: { project: 'shop', kind: 'redis' },
  service_db_query: { project: 'shop', datastore: 'postgres', query: 'select 1' },
  service_create_repo: { project: 'shop', name: 'web' },
  service_list_repos: { project: 'shop' },
  service_commit_files: { project: 'shop', repo: 'web', message: 'm', files: [{ path: 'a', content: 'a' }] },
};

describe('who is let in', () => {
  test('nobody without a valid token, and the challenge says which kind', async () => {
    const world = createWorld();
    for (const token of [null, 'brt_nonsense']) {
      const answer = await post(world, request('tools/list'), { token });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(answer.body.code).toBe('UNAUTHENTICATED');
    }
  });

  test('no page of another site, not even one whose name leads here', async () => {
    const world = createWorld();
    for (const origin of ['http://evil.example', 'https://berth.test.evil.example', 'null', 'file://'])
      expect((await post(world, request('ping'), { headers: { origin } })).status).toBe(403);
    for (const origin of ['https://berth.test', 'http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:4400'])
      expect((await post(world, request('ping'), { headers: { origin } })).status).toBe(200);
  });

  test('a token that is revoked in between is refused with the next request', async () => {
    const world = createWorld();
    const { id, secret } = await world.mint(['read'], ['*']);
    expect(await namesFor(world, secret)).toContain('service_status');
    await world.call(`DELETE /v1/tokens/${id}`);
    expect((await post(world, request('tools/list'), { token: secret })).status).toBe(401);
  });

  test('a token that is revoked while a call waits ends that call, which says so', async () => {
    const world = createWorld();
    addProject(world.rig, 'shop');
    addService(world.rig, 'shop', 'web');
    const { operation_id: id } = world.rig.operations.enqueue(ctx(), {
      kind: 'restart',
      project: 'shop',
      service: 'web',
      input: {},
    });
    const token = await world.mint(['read'], ['*']);
    const waiting = callTool(
      world,
      'service_operation',
      { operation_id: id, wait_seconds: 60 },
      { token: token.secret },
    );
    while (world.rig.streams.size < 2) await Bun.sleep(5);
    await world.call(`DELETE /v1/tokens/${token.id}`);
    expect(await waiting).toMatchObject({ isError: true, structuredContent: { error: { code: 'UNAUTHENTICATED' } } });
    expect(world.rig.streams.size).toBe(0);
  });
});

describe('the protocol', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('speaks revision %s', async (protocolVersion) => {
    const { result } = await ask(createWorld(), 'initialize', { ...INITIALIZE, protocolVersion });
    expect(result).toMatchObject({ protocolVersion, serverInfo: { name: 'berth' } });
    expect(result.instructions).toContain('service_deploy');
  });

  test('offers a revision that it knows to a client of one that it does not', async () => {
    const { result } = await ask(createWorld(), 'initialize', { ...INITIALIZE, protocolVersion: '1999-01-01' });
    expect(result.protocolVersion).toBe('2025-11-25');
  });

  test('speaks the revision without sessions', async () => {
    const world = createWorld();
    const answer = await post(world, request('tools/list', { _meta: ENVELOPE }), { headers: modern('tools/list') });
    expect(messagesOf(answer).at(-1).result.tools).toHaveLength(15);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  });

  test('keeps nothing between requests: there is no session to open, to listen to, or to end', async () => {
    const world = createWorld();
    const { headers } = await post(world, request('initialize', INITIALIZE));
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
    expect(session['mcp-session-id']).not.toBe('');
    for (const what of ['GET /mcp', 'DELETE /mcp']) {
      const answer = await world.call(what, { headers: { ...HEADERS, ...session } });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toContain('POST');
    }
    expect((await post(world, request('tools/list'), { headers: session })).status).toBe(200);
  });

  test('says what is wrong with a message that it cannot read', async () => {
    const world = createWorld();
    const broken = await post(world, '{"jsonrpc": "2.0", ');
    expect(broken.status).toBe(400);
    expect(broken.body.error.code).toBe(-32700);
    const strange = await post(world, { hello: 'world' });
    expect(strange.status).toBe(400);
    const large = await post(world, request('ping', { x: 'x'.repeat(5 * 1024 * 1024) }));
    expect(large.status).toBe(413);
    const form = await post(world, 'a=b', { headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    expect(form.status).toBe(415);
  });

  test('wants a client that takes what it may send', async () => {
    expect((await post(createWorld(), request('tools/list'), { headers: { accept: 'text/html' } })).status).toBe(406);
  });

  test('answers each message of a batch, as old clients send them', async () => {
    const batch = [request('ping', {}, 1), request('tools/list', {}, 'two')];
    const answers = messagesOf(await post(createWorld(), batch, { headers: { 'mcp-protocol-version': '2025-03-26' } }));
    expect(new Set(answers.map((answer) => answer.id))).toEqual(new Set([1, 'two']));
  });

  test('does not know every method', async () => {
    expect((await ask(createWorld(), 'prompts/list')).error.code).toBe(-32601);
  });
});

describe('tools', () => {
  test.each(CAPABILITIES.map((capability) => [capability]))(
    'a token with %s sees what it may use',
    async (capability) => {
      const world = createWorld();
      const may = toolsOf('http').filter(
        (tool) => capability === 'admin' || tool.capability === 'public' || tool.capability === capability,
      );
      expect(await namesFor(world, await tokenWith(world, [capability]))).toEqual(may.map((tool) => tool.name));
    },
  );

  test.each(
    toolsOf('http')
      .filter(({ capability }) => capability !== 'public')
      .map((tool) => [tool.name, tool] as const),
  )('%s is refused by the API itself when a token without its capability calls it anyway', async (name, tool) => {
    const world = createWorld();
    const token = await tokenWith(
      world,
      CAPABILITIES.filter((each) => each !== 'admin' && each !== tool.capability),
    );
    const result = await callTool(world, name, EXAMPLES[name] ?? {}, { token });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'CAPABILITY_MISSING' } } });
    expect(result.structuredContent.error.message).toContain(tool.capability);
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
  });

  test.each(Object.keys(EXAMPLES).filter((name) => 'project' in (EXAMPLES[name] ?? {})))(
    '%s finds no project of others',
    async (name) => {
      const world = createWorld();
      addProject(world.rig, 'shop');
      const token = await tokenWith(
        world,
        CAPABILITIES.filter((each) => each !== 'admin'),
        ['other'],
      );
      const result = await callTool(world, name, EXAMPLES[name], { token });
      expect(result.structuredContent.error).toMatchObject({ code: 'NOT_FOUND', message: 'no project named "shop"' });
    },
  );

  test.each(toolsOf('http').map((tool) => [tool.name]))('%s names an argument that it does not know', async (name) => {
    const result = await callTool(createWorld(), name, { ...EXAMPLES[name], colour: 'red' });
    expect(result.structuredContent.error).toMatchObject({ code: 'INVALID_INPUT', retryable: false });
    expect(result.structuredContent.error.message).toContain('arguments.colour is unknown');
    expect(result.structuredContent.error.message).not.toContain('red');
  });

  test('an unknown one is an error of the protocol, with the name that was meant', async () => {
    const { error } = await ask(createWorld(), 'tools/call', { name: 'service_deplyo', arguments: {} });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('"service_deploy"') });
  });

  test('a dry run gives the plan, and changes nothing', async () => {
    const world = createWorld();
    const result = await callTool(world, 'service_create_project', { name: 'shop', dry_run: true });
    expect(result.structuredContent).toMatchObject({ dry_run: true, plan: { changes: [{ action: 'create' }] } });
    expect((await callTool(world, 'service_list_projects', {})).structuredContent.projects).toEqual([]);
  });

  test('service_deploy reads no path, neither of the client nor of the server', async () => {
    const args = { project: 'shop', service: 'web', directory: '/etc' };
    const { error } = (await callTool(createWorld(), 'service_deploy', args)).structuredContent;
    expect(error).toMatchObject({ code: 'INVALID_INPUT', hint: expect.stringContaining('berth mcp') });
    expect(error.message).toContain('cannot read your disk');
  });

  test('service_deploy takes files, and says how many are too many', async () => {
    const world = createWorld();
    addProject(world.rig, 'shop');
    const at = { project: 'shop', service: 'web', wait_seconds: 0 };
    const files = [{ path: 'index.html', content: 'hello' }];
    const taken = (await callTool(world, 'service_deploy', { ...at, files })).structuredContent;
    expect(taken).toMatchObject({ status: 'queued', next: expect.stringContaining('service_operation') });
    const large = [{ path: 'a', content: 'x'.repeat(3 * 1024 * 1024 + 1) }];
    const refused = (await callTool(world, 'service_deploy', { ...at, files: large })).structuredContent;
    expect(refused.error.message).toContain('3145729 bytes');
    const wrong = [{ path: 'a', content: 'not base64!', encoding: 'base64' }];
    const unreadable = (await callTool(world, 'service_deploy', { ...at, files: wrong })).structuredContent;
    expect(unreadable.error.message).toContain('arguments.files[0].content');
  });
});

describe('resources', () => {
  test('are the guide, projects, logs and operations', async () => {
    const world = createWorld();
    addProject(world.rig, 'shop');
    addService(world.rig, 'shop', 'web');
    const { operation_id: id } = world.rig.operations.enqueue(ctx(), {
      kind: 'restart',
      project: 'shop',
      service: 'web',
      input: {},
    });
    const { resources } = (await ask(world, 'resources/list')).result;
    expect(resources.map((each: { uri: string }) => each.uri)).toEqual(['berth://skill.md', 'berth://projects/shop']);
    const { resourceTemplates } = (await ask(world, 'resources/templates/list')).result;
    expect(resourceTemplates.map((each: { uriTemplate: string }) => each.uriTemplate)).toEqual([
      'berth://projects/{project}',
      'berth://projects/{project}/services/{service}/logs',
      'berth://operations/{operation_id}',
    ]);
    const read = async (uri: string): Promise<string> =>
      (await ask(world, 'resources/read', { uri })).result.contents[0].text;
    expect(await read('berth://skill.md')).toContain('http://berth.test');
    expect(JSON.parse(await read('berth://projects/shop'))).toMatchObject({ name: 'shop' });
    expect(JSON.parse(await read(`berth://operations/${id}`))).toMatchObject({ kind: 'restart' });
    expect(await read('berth://projects/shop/services/web/logs')).toBe('no lines');
  });

  test('that are missing, foreign or malformed are not found', async () => {
    const world = createWorld();
    addProject(world.rig, 'shop');
    const token = await tokenWith(world, ['read'], ['other']);
    for (const uri of [
      'berth://projects/shop',
      'berth://operations/op_1',
      'berth://projects/..%2f',
      'file:///etc/passwd',
    ]) {
      const { error } = await ask(world, 'resources/read', { uri }, { token });
      expect(error).toMatchObject({ code: -32602, data: { uri } });
    }
  });
});

describe('a deploy whose call is given up', () => {
  const deploying = async (headers: Record<string, string>, _meta: object) => {
    const world = createWorld();
    addProject(world.rig, 'shop');
    const { url } = world.listen();
    const stopped = new AbortController();
    const call = (signal?: AbortSignal) =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { ...HEADERS, ...headers, 'content-type': 'application/json', authorization: `Bearer ${world.admin}` },
        body: JSON.stringify(
          request('tools/call', { name: 'service_deploy', arguments: EXAMPLES['service_deploy'], _meta }, 7),
        ),
        ...(signal === undefined ? {} : { signal }),
      });
    const reply = await call(stopped.signal);
    const reading = reply.text().catch(() => 'closed');
    const operation = () => world.rig.operations.list({ projects: ['*'] }, { limit: 1, after: undefined })[0];
    await until(() => operation() !== undefined && world.rig.streams.size > 0);
    const asked = (): boolean =>
      JSON.stringify(world.rig.operations.eventsAfter(operation()?.operation_id ?? '', 0)).includes('cancel requested');
    return { world, url, stopped, reading, asked };
  };
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7, reason: 'enough' } };
  const session = { 'mcp-session-id': 'one' };

  test('is cancelled by a notification of the same session and token, and of no other', async () => {
    const { world, asked, reading } = await deploying(session, {});
    const stranger = await tokenWith(world, ['admin']);
    for (const sent of [{ headers: { 'mcp-session-id': 'two' } }, {}, { headers: session, token: stranger }])
      expect((await post(world, cancel, sent)).status).toBe(202);
    expect(asked()).toBe(false);
    await post(world, cancel, { headers: session });
    await until(asked);
    await reading;
    await until(() => world.rig.streams.size === 0);
  });

  test('goes on when an old client goes away', async () => {
    const { world, stopped, asked } = await deploying(session, {});
    stopped.abort();
    await until(() => world.rig.streams.size === 0);
    expect(asked()).toBe(false);
  });

  test('is cancelled by the end of the connection since revision 2026-07-28, which knows no other way', async () => {
    const headers = { ...modern('tools/call'), 'mcp-name': 'service_deploy' };
    const { world, stopped, asked } = await deploying(headers, ENVELOPE);
    stopped.abort();
    await until(asked);
    await until(() => world.rig.streams.size === 0);
  });

  test('goes on when the server stops', async () => {
    const headers = { ...modern('tools/call'), 'mcp-name': 'service_deploy' };
    const { world, reading, asked } = await deploying(headers, ENVELOPE);
    world.rig.streams.endAll();
    expect(await reading).toContain('the server is stopping');
    expect(asked()).toBe(false);
  });
});

test('progress rises with the phases, and comes only to those who ask', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  const { operation_id: id } = world.rig.operations.enqueue(ctx(), {
    kind: 'deploy',
    project: 'shop',
    service: 'web',
    input: {},
  });
  const args = { operation_id: id, wait_seconds: 1 };
  for (const phase of ['building', 'pushing', 'rolling_out'] as const)
    world.rig.journal.phase(id, phase, `now ${phase}`);
  const params = { name: 'service_operation', arguments: args };
  const asked = messagesOf(await post(world, request('tools/call', { ...params, _meta: { progressToken: 'p' } })));
  const notes = asked.filter((message) => message.method === 'notifications/progress').map(({ params }) => params);
  expect(notes.map(({ message }) => message)).toEqual(
    expect.arrayContaining(['building: now building', 'rolling_out: now rolling_out']),
  );
  expect(notes.every((note) => note.progressToken === 'p' && note.total === 5)).toBe(true);
  const values = notes.map(({ progress }) => progress);
  expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
  expect(messagesOf(await post(world, request('tools/call', params)))).toHaveLength(1);
});
