import { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { helloApp, writeFiles } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import {
  inspect,
  openPython,
  openTypescript,
  openTypescript1,
  transportOf,
  type McpClient,
  type Where,
} from '#test/support/mcp-clients.ts';

const EXECUTABLE = join(import.meta.dir, '../../dist/berth');

let berth: Berth;
let folder: string;

beforeAll(async () => {
  berth = await Berth.boot();
  folder = mkdtempSync(join(berth.dataDir, 'sources-'));
  writeFiles(join(folder, 'one'), { ...helloApp('one'), 'node_modules/left/out.js': 'x' });
  writeFiles(join(folder, 'two'), helloApp('two'));
  writeFiles(join(folder, 'broken'), { Dockerfile: 'FROM node:24-slim\nRUN echo the reason; exit 3\n' });
  writeFiles(join(folder, 'nothing'), { 'notes.txt': 'nothing to build' });
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

interface Step {
  tool: string;
  args: Record<string, unknown>;
  /** What its structured content holds. */
  gives: object;
  fails?: boolean;
  progress?: string[];
}

const failure = (code: string, more: object = {}) => ({
  fails: true,
  gives: {
    error: expect.objectContaining({ code, hint: expect.any(String), retryable: expect.any(Boolean), ...more }),
  },
});

const SECRET = 'a-value-that-no-reply-may-hold';

/** All tools, with what they do when all is well and when it is not, in one order: each step builds on those before. */
const stepsOf = (project: string, source: (name: string) => Record<string, unknown>): Step[] => {
  const at = { project, service: 'web' };
  return [
    { tool: 'service_get_skill', args: {}, gives: { skill: expect.stringContaining(berth.url) } },
    { tool: 'service_status', args: { project }, ...failure('NOT_FOUND') },
    { tool: 'service_deploy', args: { ...at, ...source('one') }, ...failure('NOT_FOUND') },
    { tool: 'service_create_project', args: { name: 'Not A Name' }, ...failure('INVALID_INPUT') },
    { tool: 'service_create_project', args: { name: project, dry_run: true }, gives: { dry_run: true } },
    { tool: 'service_create_project', args: { name: project }, gives: { name: project, created: true } },
    { tool: 'service_create_project', args: { name: project }, gives: { name: project, created: false } },
    {
      tool: 'service_list_projects',
      args: {},
      gives: { projects: expect.arrayContaining([expect.objectContaining({ name: project })]) },
    },
    { tool: 'service_deploy', args: { ...at, ...source('nothing') }, ...failure('NO_PROVIDER_DETECTED') },
    {
      tool: 'service_deploy',
      args: { ...at, ...source('broken') },
      ...failure('BUILD_COMMAND_FAILED', { log_tail: expect.stringContaining('the reason') }),
    },
    { tool: 'service_deploy', args: { ...at, ...source('one'), dry_run: true }, gives: { dry_run: true } },
    {
      tool: 'service_deploy',
      args: { ...at, ...source('one') },
      gives: {
        status: 'succeeded',
        phase: 'healthy',
        service_url: `http://web--${project}.localhost:${berth.ports.http}`,
      },
      progress: ['packing 2 files', 'building', 'rolling_out', 'healthy'],
    },
    { tool: 'service_rollback', args: at, ...failure('CONFLICT') },
    { tool: 'service_deploy', args: { ...at, ...source('two') }, gives: { status: 'succeeded' } },
    { tool: 'service_rollback', args: at, gives: { status: 'succeeded', kind: 'rollback' } },
    { tool: 'service_status', args: at, gives: { status: 'running', replicas: 1 } },
    { tool: 'service_status', args: { project }, gives: { services: [expect.objectContaining({ name: 'web' })] } },
    { tool: 'service_scale', args: { ...at, replicas: -1 }, ...failure('INVALID_INPUT') },
    { tool: 'service_scale', args: { ...at, replicas: 2 }, gives: { status: 'succeeded', kind: 'scale' } },
    { tool: 'service_scale', args: { ...at, replicas: 2 }, gives: { operation_id: null } },
    { tool: 'service_scale', args: { ...at, replicas: 1 }, gives: { status: 'succeeded' } },
    {
      tool: 'service_logs',
      args: { ...at, tail: 5 },
      gives: { lines: expect.arrayContaining([expect.objectContaining({ stream: 'stdout' })]) },
    },
    { tool: 'service_logs', args: { project, service: 'missing' }, ...failure('NOT_FOUND') },
    { tool: 'service_set_env', args: { project, env: { 'NOT VALID': 'x' } }, ...failure('INVALID_INPUT') },
    {
      tool: 'service_set_env',
      args: { project, env: { TOKEN: SECRET } },
      gives: { names: ['TOKEN'], restarted_services: ['web'] },
    },
    { tool: 'service_add_datastore', args: { project, kind: 'oracle' }, ...failure('INVALID_INPUT') },
    { tool: 'service_add_datastore', args: { project, kind: 'redis' }, gives: { created: true, status: 'ready' } },
    { tool: 'service_add_datastore', args: { project, kind: 'redis' }, gives: { created: false } },
    {
      tool: 'service_db_query',
      args: { project, datastore: 'redis', query: 'SET greeting hello' },
      gives: { rows: [['OK']] },
    },
    {
      tool: 'service_db_query',
      args: { project, datastore: 'redis', query: 'GET greeting', read_only: true },
      gives: { rows: [['hello']] },
    },
    { tool: 'service_db_query', args: { project, datastore: 'redis', query: 'NONSENSE' }, ...failure('INVALID_INPUT') },
    {
      tool: 'service_create_repo',
      args: { project, name: 'site', deploy_service: 'site' },
      gives: { created: true, clone_url: expect.stringContaining('site.git') },
    },
    { tool: 'service_list_repos', args: { project }, gives: { repos: [expect.objectContaining({ name: 'site' })] } },
    {
      tool: 'service_commit_files',
      args: { project, repo: 'site', message: 'First', files: [{ path: 'index.html', content: 'x' }], deploy: false },
      gives: { changed: true, deploys: [] },
    },
    {
      tool: 'service_commit_files',
      args: { project, repo: 'site', message: 'Out', files: [{ path: '../x', content: 'x' }] },
      ...failure('INVALID_INPUT'),
    },
    { tool: 'service_operation', args: { operation_id: 'op_missing' }, ...failure('NOT_FOUND') },
  ];
};

const runSteps = async (client: McpClient, steps: Step[]): Promise<void> => {
  const results = [];
  for (const step of steps) {
    const result = await client.call(step.tool, step.args);
    const what = `${step.tool} ${JSON.stringify(step.args).slice(0, 200)}`;
    results.push(result);
    expect({ what, isError: result.isError ?? false, gives: result.structuredContent }).toMatchObject({
      what,
      isError: step.fails ?? false,
      gives: step.gives,
    });
    for (const message of step.progress ?? [])
      expect(result.progress.some((told) => told.startsWith(message))).toBe(true);
  }
  expect(JSON.stringify(results)).not.toContain(SECRET);
  const deployed = results.findLast((_result, index) => steps[index]?.tool === 'service_deploy')?.structuredContent;
  const operation = await client.call('service_operation', { operation_id: deployed.operation_id, log_lines: 5 });
  expect(operation.structuredContent).toMatchObject({ status: 'succeeded', log: expect.any(Array) });
  expect(JSON.parse(await client.read(`berth://operations/${deployed.operation_id}`))).toMatchObject({
    kind: 'deploy',
  });
};

const CASES = [
  ['TypeScript', 'stdio', 'legacy', openTypescript],
  ['TypeScript', 'http', 'auto', openTypescript],
  ['v1 TypeScript', 'stdio', 'legacy', openTypescript1],
  ['v1 TypeScript', 'http', 'legacy', openTypescript1],
  ['Python', 'stdio', 'auto', openPython],
  ['Python', 'http', 'legacy', openPython],
] as const;

const whereOf = (kind: 'stdio' | 'http', token = berth.token): Where =>
  kind === 'http'
    ? { kind, url: `${berth.url}/mcp`, token }
    : {
        kind,
        command: EXECUTABLE,
        env: { SERVICE_ENDPOINT: berth.url, SERVICE_TOKEN: token, HOME: folder, PATH: process.env['PATH'] ?? '' },
        cwd: folder,
      };

/** Over HTTP the files themselves are given, over stdio the folder that they are in. */
const sourceFor = (kind: 'stdio' | 'http') => (name: string) => {
  if (kind === 'stdio') return { directory: name };
  const paths = [...new Bun.Glob('*').scanSync(join(folder, name))];
  return { files: paths.map((path) => ({ path, content: readFileSync(join(folder, name, path), 'utf8') })) };
};

describe('the official clients do everything', () => {
  test.each(CASES)(
    '%s over %s (%s)',
    async (language, kind, mode, open) => {
      const client = await open(whereOf(kind), mode);
      try {
        const project = `${language.slice(0, 2)}-${kind}`.toLowerCase();
        expect(await client.tools()).toHaveLength(15);
        await runSteps(client, stepsOf(project, sourceFor(kind)));
        expect(await berth.appText(project, 'web')).toBe('one');
      } finally {
        await client.close();
      }
    },
    240_000,
  );
});

test('the official inspector lists the tools and calls them, over both transports', async () => {
  for (const kind of ['stdio', 'http'] as const) {
    const { tools } = (await inspect(whereOf(kind), '--method', 'tools/list')) as { tools: object[] };
    expect(tools).toHaveLength(15);
    const call = await inspect(whereOf(kind), '--method', 'tools/call', '--tool-name', 'service_list_projects');
    expect(call).toMatchObject({ structuredContent: { projects: expect.any(Array) } });
  }
}, 180_000);

test.each([
  ['stdio', 'legacy'],
  ['http', 'legacy'],
  ['http', 'auto'],
] as const)(
  'a deploy that is cancelled over %s (%s) stops its build',
  async (kind, mode) => {
    const client = new Client({ name: 'berth-test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(transportOf(whereOf(kind)));
    const project = `cancel-${kind}-${mode}`;
    await berth.project(project);
    writeFiles(join(folder, 'slow'), { Dockerfile: 'FROM node:24-slim\nRUN sleep 120\n' });
    const stopped = new AbortController();
    const building = Promise.withResolvers<void>();
    const call = client.callTool(
      { name: 'service_deploy', arguments: { project, service: 'web', ...sourceFor(kind)('slow') } },
      {
        signal: stopped.signal,
        onprogress: ({ message }) => message?.startsWith('building') === true && building.resolve(),
      },
    );
    call.catch(() => undefined);
    await building.promise;
    stopped.abort('the user changed their mind');
    const { operations } = (await berth.api(`/v1/operations?project=${project}`)).body;
    const operation = await berth.wait(operations[0].operation_id, 20);
    expect(operation).toMatchObject({ status: 'failed', phase: 'failed' });
    expect(operation.error?.message).toContain('cancel');
    await client.close();
  },
  60_000,
);
