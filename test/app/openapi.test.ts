import { Validator } from '@seriousme/openapi-schema-validator';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { expect, test } from 'bun:test';
import { parse } from 'yaml';
import { ERROR_CODES } from '#kernel/errors';
import { createWorld } from './world.ts';

/** The operationIds of the contract that this version has. */
const CONTRACT: Record<string, string> = {
  createProject: 'POST /v1/projects',
  listProjects: 'GET /v1/projects',
  getProject: 'GET /v1/projects/{project}',
  deleteProject: 'DELETE /v1/projects/{project}',
  createDeploy: 'POST /v1/projects/{project}/services/{service}/deploys',
  listServices: 'GET /v1/projects/{project}/services',
  scaleService: 'PATCH /v1/projects/{project}/services/{service}',
  rollbackService: 'POST /v1/projects/{project}/services/{service}/rollback',
  restartService: 'POST /v1/projects/{project}/services/{service}/restart',
  setEnv: 'PUT /v1/projects/{project}/env',
  listEnv: 'GET /v1/projects/{project}/env',
  streamLogs: 'GET /v1/projects/{project}/services/{service}/logs',
  createToken: 'POST /v1/tokens',
  listTokens: 'GET /v1/tokens',
  revokeToken: 'DELETE /v1/tokens/{id}',
  streamEvents: 'GET /v1/projects/{project}/events',
  clusterCapacity: 'GET /v1/admin/capacity',
  getOperation: 'GET /v1/operations/{id}',
  streamOperation: 'GET /v1/operations/{id}/stream',
};

interface Media {
  schema: object;
  example?: unknown;
  examples?: Record<string, { value: { code: string } }>;
}

interface Operation {
  operationId: string;
  security?: unknown[];
  'x-capability': string;
  parameters: { name: string; in: string; schema: object; example?: unknown }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

const { call } = createWorld();
const { body: document } = await call('GET /v1/openapi', { token: null });
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ what: `${method.toUpperCase()} ${path}`, operation })),
);

const ajv = addFormats(new Ajv2020({ strict: false }));
ajv.addSchema({ $id: 'doc', components: document.components });
const complaintsAbout = (schema: object, value: unknown): string => {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"doc#/components');
  return ajv.validate(JSON.parse(text) as object, value) ? '' : ajv.errorsText();
};

test('every operation that changes something takes dry_run and an Idempotency-Key; every list takes limit and cursor', () => {
  for (const { what, operation } of operations) {
    const names = operation.parameters.map((parameter) => parameter.name);
    if (!what.startsWith('GET '))
      expect({ what, names }).toMatchObject({ names: expect.arrayContaining(['dry_run', 'Idempotency-Key']) });
    if (operation.operationId.startsWith('list'))
      expect({ what, names }).toMatchObject({ names: expect.arrayContaining(['limit', 'cursor']) });
  }
});

test('the document is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
  expect(document.openapi).toBe('3.1.0');
});

test('YAML and JSON say the same', async () => {
  const world = createWorld();
  const yaml = await world.call('GET /v1/openapi.yaml', { token: null });
  expect(yaml.headers.get('content-type')).toStartWith('application/yaml');
  expect(parse(yaml.text)).toEqual((await world.call('GET /v1/openapi')).body);
});

test('every operation of the contract is there under its name', () => {
  const found = Object.fromEntries(operations.map(({ what, operation }) => [operation.operationId, what]));
  expect(found).toMatchObject(CONTRACT);
});

const HIDDEN =
  /^\/($|home\.css$|assets\/|(p|operations|tokens|admin)($|\/)|sign-in$|new$|_ui$|v1\/session$|git\/|hooks\/|mcp$|install\.sh$|dl\/|schema\/)/;

test('every route but the pages for people and those for git is described, once', () => {
  const { app } = createWorld();
  const shown = app.routes.filter(({ hooks }) => (hooks as { detail?: { hide?: boolean } }).detail?.hide !== true);
  // Pages and what they load, sessions of browsers, git's own protocol, webhooks, MCP, and downloads.
  const hidden = app.routes.filter((route) => !shown.includes(route)).map(({ path }) => path);
  for (const path of hidden) expect(path).toMatch(HIDDEN);
  expect(hidden.length).toBeGreaterThan(20);
  const routes = shown.map((route) => `${route.method} ${route.path.replaceAll(/:([a-z_]+)/g, '{$1}')}`);
  expect(operations.map(({ what }) => what).sort()).toEqual(routes.sort());
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
});

test('every example fits its schema', () => {
  const complaints = operations.flatMap(({ operation }) => {
    const media = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    );
    const values = media.flatMap(({ schema, example, examples = {} }) => [
      ...(example === undefined ? [] : [{ schema, value: example }]),
      ...Object.values(examples).map(({ value }) => ({ schema, value: value as unknown })),
    ]);
    const parameters = operation.parameters
      .filter((parameter) => parameter.example !== undefined)
      .map(({ schema, example }) => ({ schema, value: example }));
    return [...values, ...parameters]
      .map(({ schema, value }) => ({ text: complaintsAbout(schema, value), value }))
      .filter(({ text }) => text !== '')
      .map(({ text, value }) => `${operation.operationId}: ${text} in ${JSON.stringify(value).slice(0, 200)}`);
  });
  expect(complaints).toEqual([]);
});

test('every JSON reply and body has an example', () => {
  const without = operations.flatMap(({ operation }) =>
    [operation.requestBody, ...Object.values(operation.responses)]
      .map((part) => part?.content?.['application/json'])
      .filter((media) => media !== undefined && media.example === undefined && media.examples === undefined)
      .map(() => operation.operationId),
  );
  expect(without).toEqual(['getOpenApi']);
});

test('protected operations declare what the guard can refuse them with', () => {
  for (const { operation } of operations) {
    const codes = codesOf(operation);
    expect(codes).toContain('INVALID_INPUT');
    expect(codes).toContain('INTERNAL_ERROR');
    const open = operation.security !== undefined;
    expect(codes.includes('UNAUTHENTICATED')).toBe(!open);
    expect(codes.includes('CAPABILITY_MISSING')).toBe(!open && operation['x-capability'] !== 'any');
    expect(codes.every((code) => (ERROR_CODES as readonly string[]).includes(code))).toBe(true);
    if (operation.parameters.some((parameter) => parameter.in === 'path')) expect(codes).toContain('NOT_FOUND');
  }
});

test('streams are event streams, and the upload is a gzipped tar or a form', () => {
  const media = (id: string, status: string): string[] =>
    Object.keys(
      operations.find(({ operation }) => operation.operationId === id)?.operation.responses[status]?.content ?? {},
    );
  for (const id of ['streamLogs', 'streamEvents', 'streamOperation'])
    expect(media(id, '200')).toEqual(['text/event-stream']);
  const deploy = operations.find(({ operation }) => operation.operationId === 'createDeploy')?.operation;
  expect(Object.keys(deploy?.requestBody?.content ?? {})).toEqual(['application/gzip', 'multipart/form-data']);
});

const codesOf = (operation: Operation): string[] =>
  Object.entries(operation.responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, reply]) => Object.values(reply.content?.['application/json']?.examples ?? {}))
    .map(({ value }) => value.code);
