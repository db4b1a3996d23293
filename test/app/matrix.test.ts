import { expect, test } from 'bun:test';
import { CAPABILITIES, type Capability } from '#kernel/scope';
import { systemClock, type Clock } from '#kernel/clock';
import type { RouteMeta } from '#http/route';
import { addProject, addRelease, addService, ctx, finish } from '#test/modules/support/rig.ts';
import { addDatastore } from '#test/modules/support/datastores.ts';
import { createWorld, type Ask, type World } from './world.ts';

interface Row {
  /** `{op}` and `{tok}` stand for an operation of the project and for a token. */
  path: string;
  /** Status for a token with the right capability and scope. */
  right: number;
  ask?: Ask;
}

const DATA = '/v1/projects/{project}/datastores';
const REPO = '/v1/projects/{project}/repos/web';
/** Of the project `shop`; the other one has its own. */
const BACKUP = 'bkp_shop';

/** What says that a git client has nothing to ask. */
const RPC = (service: string): Ask => ({
  body: new TextEncoder().encode('0000'),
  headers: { 'content-type': `application/x-git-${service}-request` },
});

const PING: Ask = {
  body: { jsonrpc: '2.0', id: 1, method: 'ping' },
  headers: { accept: 'application/json, text/event-stream' },
};

/** One row for every route; a route without one fails the suite. */
const ROWS: Record<string, Row> = {
  getHome: { path: '/', right: 200 },
  getHomeStyle: { path: '/home.css', right: 200 },
  getAsset: { path: '/assets/none.js', right: 404 },
  getSignInPage: { path: '/sign-in', right: 404 },
  getFirstRunPage: { path: '/new', right: 404 },
  getProjectsPage: { path: '/p', right: 404 },
  getProjectPage: { path: '/p/shop', right: 404 },
  getOperationsPage: { path: '/operations', right: 404 },
  getOperationPage: { path: '/operations/op_1', right: 404 },
  getTokensPage: { path: '/tokens', right: 404 },
  getTokenPage: { path: '/tokens/new', right: 404 },
  getAdminPage: { path: '/admin', right: 404 },
  getAdminPartPage: { path: '/admin/audit', right: 404 },
  getPrimitivesPage: { path: '/_ui', right: 404 },
  createSession: {
    path: '/v1/session',
    right: 401,
    ask: {
      body: { token: 'brt_nonsense' },
      headers: { 'x-berth-request': '1', 'x-forwarded-proto': 'https', 'sec-fetch-site': 'same-origin' },
    },
  },
  getSession: { path: '/v1/session', right: 404 },
  endSession: { path: '/v1/session', right: 404 },
  listSessions: { path: '/v1/sessions', right: 200 },
  endSessions: { path: '/v1/sessions', right: 200 },
  getInstaller: { path: '/install.sh', right: 200 },
  downloadClient: { path: '/dl/manifest.json', right: 200 },
  getHealth: { path: '/v1/health', right: 200 },
  clusterCapacity: { path: '/v1/admin/capacity', right: 200 },
  diskByProject: { path: '/v1/admin/disk', right: 200 },
  runChecks: { path: '/v1/admin/checks', right: 200 },
  getMetrics: { path: '/metrics', right: 200 },
  getOpenApi: { path: '/v1/openapi', right: 200 },
  getOpenApiYaml: { path: '/v1/openapi.yaml', right: 200 },
  getDocs: { path: '/v1/docs', right: 200 },
  getDocsFile: { path: '/v1/docs/start.js', right: 200 },
  callMcp: { path: '/mcp', right: 200, ask: PING },
  getTomlSchema: { path: '/schema/berth.toml.json', right: 200 },
  getSkill: { path: '/skill.md', right: 200 },
  whoami: { path: '/v1/whoami', right: 200 },
  createToken: {
    path: '/v1/tokens',
    right: 201,
    ask: { body: { principal: 'x', capabilities: ['manage_tokens'], projects: ['shop'] } },
  },
  listTokens: { path: '/v1/tokens', right: 200 },
  updateToken: { path: '/v1/tokens/{tok}', right: 200, ask: { body: { capabilities: ['read'] } } },
  revokeToken: { path: '/v1/tokens/{tok}', right: 200 },
  createProject: { path: '/v1/projects', right: 200, ask: { body: { name: 'shop' } } },
  listProjects: { path: '/v1/projects', right: 200 },
  getProject: { path: '/v1/projects/{project}', right: 200 },
  deleteProject: { path: '/v1/projects/{project}?confirm=true', right: 202 },
  listServices: { path: '/v1/projects/{project}/services', right: 200 },
  getService: { path: '/v1/projects/{project}/services/web', right: 200 },
  scaleService: { path: '/v1/projects/{project}/services/web', right: 202, ask: { body: { replicas: 2 } } },
  rollbackService: {
    path: '/v1/projects/{project}/services/web/rollback',
    right: 202,
    ask: { body: { release: 'rel_old' } },
  },
  restartService: { path: '/v1/projects/{project}/services/web/restart', right: 202 },
  deleteService: { path: '/v1/projects/{project}/services/web?confirm=true', right: 202 },
  listReleases: { path: '/v1/projects/{project}/services/web/releases', right: 200 },
  compareReleases: { path: '/v1/projects/{project}/services/web/releases/rel_old/compare', right: 200 },
  listOperations: { path: '/v1/operations', right: 200 },
  getOperation: { path: '/v1/operations/{op}', right: 200 },
  streamOperation: { path: '/v1/operations/{op}/stream', right: 200 },
  cancelOperation: { path: '/v1/operations/{op}/cancel', right: 409 },
  listDatastores: { path: DATA, right: 200 },
  createDatastore: { path: DATA, right: 202, ask: { body: { kind: 'mongo' } } },
  getDatastore: { path: `${DATA}/postgres`, right: 200 },
  updateDatastore: { path: `${DATA}/postgres`, right: 202, ask: { body: { memory_mb: 1024 } } },
  restartDatastore: { path: `${DATA}/postgres/restart`, right: 202 },
  rotateDatastore: { path: `${DATA}/postgres/rotate`, right: 202 },
  forkDatastore: { path: `${DATA}/postgres/fork`, right: 202, ask: { body: { name: 'copy' } } },
  deleteDatastore: { path: `${DATA}/postgres?confirm=true`, right: 202 },
  listDatastoreTables: { path: `${DATA}/postgres/tables`, right: 200 },
  queryDatastore: { path: `${DATA}/postgres/query`, right: 200, ask: { body: { query: 'select 1' } } },
  openTunnel: { path: `${DATA}/postgres/tunnel`, right: 204, ask: { headers: { upgrade: 'websocket' } } },
  listBackups: { path: `${DATA}/postgres/backups`, right: 200 },
  createBackup: { path: `${DATA}/postgres/backups`, right: 202 },
  getBackup: { path: `${DATA}/postgres/backups/{backup}`, right: 200 },
  downloadBackup: { path: `${DATA}/postgres/backups/{backup}/download`, right: 200 },
  deleteBackup: { path: `${DATA}/postgres/backups/{backup}?confirm=true`, right: 200 },
  restoreBackup: { path: `${DATA}/postgres/restore`, right: 202, ask: { body: { key: BACKUP } } },
  undoRestore: { path: `${DATA}/postgres/restore/undo`, right: 202 },
  listRepos: { path: '/v1/projects/{project}/repos', right: 200 },
  createRepo: { path: '/v1/projects/{project}/repos', right: 201, ask: { body: { name: 'docs' } } },
  getRepo: { path: '/v1/projects/{project}/repos/web', right: 200 },
  updateRepo: { path: '/v1/projects/{project}/repos/web', right: 200, ask: { body: { preview: true } } },
  deleteRepo: { path: '/v1/projects/{project}/repos/web', right: 200 },
  listRepoRefs: { path: `${REPO}/refs`, right: 200 },
  listRepoCommits: { path: `${REPO}/commits`, right: 200 },
  getRepoCommit: { path: `${REPO}/commits/main`, right: 200 },
  getRepoDiff: { path: `${REPO}/commits/main/diff`, right: 200 },
  compareRepoRefs: { path: `${REPO}/compare?base=main`, right: 200 },
  getRepoTree: { path: `${REPO}/tree`, right: 200 },
  getRepoFile: { path: `${REPO}/file?path=README.md`, right: 200 },
  getRepoReadme: { path: `${REPO}/readme`, right: 200 },
  getRepoArchive: { path: `${REPO}/archive`, right: 200 },
  commitRepoFiles: {
    path: `${REPO}/commits`,
    right: 201,
    ask: { body: { message: 'm', files: [{ path: 'a', content: 'a' }] } },
  },
  syncRepo: { path: '/v1/projects/{project}/repos/web/sync', right: 409 },
  takeWebhook: { path: '/hooks/repo_1', right: 404, ask: { body: '{}' } },
  gitRefs: { path: '/git/{project}/web.git/info/refs?service=git-upload-pack', right: 200 },
  gitUploadPack: { path: '/git/{project}/web.git/git-upload-pack', right: 200, ask: RPC('upload-pack') },
  gitReceivePack: { path: '/git/{project}/web.git/git-receive-pack', right: 200, ask: RPC('receive-pack') },
  gitDumb: { path: '/git/{project}/web.git/HEAD', right: 404 },
  setEnv: { path: '/v1/projects/{project}/env', right: 200, ask: { body: { A: 'b' } } },
  listEnv: { path: '/v1/projects/{project}/env', right: 200 },
  listEvents: { path: '/v1/events', right: 200 },
  streamEvents: { path: '/v1/projects/{project}/events?follow=false', right: 200 },
  streamLogs: { path: '/v1/projects/{project}/services/web/logs?follow=false', right: 200 },
  getUsage: { path: '/v1/projects/{project}/services/web/usage', right: 200 },
  searchLogs: { path: '/v1/projects/{project}/services/web/logs/search', right: 200 },
  downloadLogs: { path: '/v1/projects/{project}/services/web/logs/download', right: 200 },
  streamLive: { path: '/v1/live?topics=nothing', right: 400 },
  createDeploy: {
    path: '/v1/projects/{project}/services/web/deploys',
    right: 202,
    ask: { body: new Uint8Array([31, 139, 8]), headers: { 'content-type': 'application/gzip' } },
  },
};

const DAY = 86_400_000;

interface Place {
  world: World;
  clock: Clock & { offset: number };
  token: { id: string; secret: string };
  operations: Record<string, string>;
}

/** Projects `shop` and `other`, with a service, two releases and a finished operation each. */
const furnish = async (): Promise<Place> => {
  const clock = { ...systemClock, offset: 0, now: () => Date.now() + clock.offset };
  const world = createWorld({ clock });
  const operations: Record<string, string> = {};
  for (const project of ['shop', 'other']) {
    addProject(world.rig, project);
    const service = addService(world.rig, project, 'web', { live_release: 'rel_new', previous_release: 'rel_old' });
    for (const id of ['rel_new', 'rel_old']) addRelease(world.rig, service, id);
    const operation = world.rig.operations.enqueue(ctx(), { kind: 'restart', project, service: 'web', input: {} });
    finish(world.rig, operation.operation_id);
    addDatastore(world.rig, project, `bkp_${project}`);
    await world.rig.repos.createRepo(ctx(), project, { name: 'web' }, 'http://berth.test');
    const files = [{ path: 'README.md', content: '# web' }];
    await world.rig.commitVerbs.commitFiles(ctx(), { project, repo: 'web' }, { message: 'First', files });
    operations[project] = operation.operation_id;
  }
  return { world, clock, token: await world.mint(['read'], ['shop']), operations };
};

const { world: probe } = await furnish();
const ROUTES = probe.app.routes.map((declared) => {
  const detail = declared.hooks.detail as { operationId: string; 'x-berth': RouteMeta };
  return { method: declared.method, path: declared.path, operationId: detail.operationId, meta: detail['x-berth'] };
});
const CASES = ROUTES.map((route) => [route.operationId, route] as const);

const whatFor = (place: Place, route: (typeof ROUTES)[number], project: string): string => {
  const row = ROWS[route.operationId];
  const path = (row?.path ?? '')
    .replace('{project}', project)
    .replace('{op}', place.operations[project] ?? 'op_missing')
    .replace('{tok}', place.token.id)
    .replace('{backup}', `bkp_${project}`);
  return `${route.method} ${path}`;
};

/** What a token needs to hold for the route; createToken hands on what it holds itself. */
const needs = (meta: RouteMeta): Capability[] =>
  meta.capability === 'public' || meta.capability === 'any' ? ['read'] : [meta.capability];

test('every route has a row, and every row a route', () => {
  expect(ROUTES.map((route) => route.operationId).sort()).toEqual(Object.keys(ROWS).sort());
});

test.each(CASES)('%s answers the right token', async (operationId, route) => {
  const place = await furnish();
  const { secret } = await place.world.mint(needs(route.meta), ['shop']);
  const answer = await place.world.call(whatFor(place, route, 'shop'), { ...ROWS[operationId]?.ask, token: secret });
  expect(answer.status).toBe(ROWS[operationId]?.right ?? 0);
});

test.each(CASES)('%s wants a token, and a valid one', async (operationId, route) => {
  const place = await furnish();
  const { call, mint } = place.world;
  const revoked = await mint(needs(route.meta), ['shop']);
  const expires = new Date(place.clock.now() + DAY).toISOString();
  const expired = await mint(needs(route.meta), ['shop'], { expires_at: expires });
  await call(`DELETE /v1/tokens/${revoked.id}`);
  place.clock.offset = DAY + 1;
  const wrong = `${revoked.secret.slice(0, -1)}${revoked.secret.endsWith('0') ? '1' : '0'}`;
  for (const token of [null, revoked.secret, expired.secret, wrong, 'brt_nonsense']) {
    const answer = await call(whatFor(place, route, 'shop'), { ...ROWS[operationId]?.ask, token });
    if (route.meta.capability === 'public') expect(answer.status).toBe(ROWS[operationId]?.right ?? 0);
    else {
      expect(answer.status).toBe(401);
      // Git asks for a password, and prints the rest.
      if (route.meta.basic) expect(answer.headers.get('www-authenticate')).toContain('Basic');
      else expect(answer.body.code).toBe('UNAUTHENTICATED');
    }
  }
});

test.each(CASES.filter(([, { meta }]) => meta.capability !== 'public' && meta.capability !== 'any'))(
  '%s refuses every other capability',
  async (operationId, route) => {
    const place = await furnish();
    const others = CAPABILITIES.filter(
      (capability) => capability !== 'admin' && !needs(route.meta).includes(capability),
    );
    const { secret } = await place.world.mint(others, ['shop']);
    const answer = await place.world.call(whatFor(place, route, 'shop'), { ...ROWS[operationId]?.ask, token: secret });
    expect(answer.status).toBe(403);
    if (!route.meta.basic) expect(answer.body.code).toBe('CAPABILITY_MISSING');
    expect(route.meta.basic ? answer.text : answer.body.message).toContain(needs(route.meta)[0] ?? '');
  },
);

const SCOPED = CASES.filter(([operationId]) => /\{project\}|\{op\}/.test(ROWS[operationId]?.path ?? ''));

test.each(SCOPED)('%s answers for a foreign project as for a missing one', async (operationId, route) => {
  const place = await furnish();
  const { secret } = await place.world.mint(
    [...CAPABILITIES].filter((name) => name !== 'admin'),
    ['shop'],
  );
  const ask = { ...ROWS[operationId]?.ask, token: secret };
  const foreign = await place.world.call(whatFor(place, route, 'other'), ask);
  const missing = await place.world.call(whatFor(place, route, 'missing'), ask);
  expect(foreign.status).toBe(404);
  const ids = [place.operations['other'] ?? '', 'other'];
  const blank = (text: string): string =>
    ['op_missing', 'missing', ...ids].reduce((rest, id) => rest.replaceAll(id, '_'), text);
  expect(blank(foreign.text)).toBe(blank(missing.text));
  expect(shownHeaders(foreign.headers)).toEqual(shownHeaders(missing.headers));
});

const shownHeaders = (headers: Headers): [string, string][] => [...headers].filter(([name]) => name !== 'x-request-id');

test('lists show nothing of foreign projects', async () => {
  const place = await furnish();
  const { secret } = await place.world.mint(['read'], ['shop']);
  for (const what of ['GET /v1/projects', 'GET /v1/operations', 'GET /v1/events']) {
    const { text } = await place.world.call(what, { token: secret });
    expect(text).toContain('shop');
    expect(text).not.toContain('other');
  }
});
