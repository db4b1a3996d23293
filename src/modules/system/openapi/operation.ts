import type { DeclaredRoute, RouteEntry } from '#http/route-table';
import { exampleOf } from './examples.ts';
import { failureCases, takesIdempotencyKey } from './errors.ts';
import { toJsonSchema, type JsonSchema, type NamedSchemas } from './schema.ts';

/** A route as the assembled app declares it, schemas included. */
export interface SourceRoute extends DeclaredRoute {
  hooks: DeclaredRoute['hooks'] & { params?: unknown; response?: unknown };
}

export interface SchemaSet {
  named: NamedSchemas;
  components: Record<string, JsonSchema>;
}

type Json = Record<string, unknown>;

/** The OpenAPI operation object of a route. */
export const operationOf = (source: SourceRoute, entry: RouteEntry, schemas: SchemaSet): Json => {
  const detail = source.hooks.detail as { tags?: string[]; summary?: string; description?: string };
  const body = requestBody(source, entry, schemas);
  return {
    operationId: entry.operationId,
    tags: detail.tags ?? [],
    summary: detail.summary ?? '',
    description: describe(detail.description, entry),
    ...(entry.meta.capability === 'public' ? { security: [] } : {}),
    'x-capability': entry.meta.capability,
    parameters: [
      ...pathParameters(source, schemas),
      ...queryParameters(source, entry, schemas),
      ...headerParameters(entry),
    ],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: { ...successes(source, entry, schemas), ...failures(entry) },
  };
};

const describe = (text: string | undefined, { meta }: RouteEntry): string => {
  const needs = {
    public: 'Needs no token.',
    any: 'Needs any valid token.',
  }[meta.capability as 'public' | 'any'] as string | undefined;
  return [text, needs ?? `Needs the capability \`${meta.capability}\`.`]
    .filter((part) => part !== undefined)
    .join('\n\n');
};

const pathParameters = (source: SourceRoute, schemas: SchemaSet): Json[] => {
  const { properties = {} } = toJsonSchema(source.hooks.params ?? {});
  return [...source.path.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => {
    const schema = properties[name] ?? { type: 'string' };
    return {
      name,
      in: 'path',
      required: true,
      schema,
      example: exampleOf(schema, schemas.components, pathName(name, source.path)),
    };
  });
};

/** `id` alone says nothing: it takes the kind of its path. */
const pathName = (name: string, path: string): string =>
  name === 'id' && path.includes('/operations/') ? 'operation_id' : name;

const queryParameters = (source: SourceRoute, { meta }: RouteEntry, schemas: SchemaSet): Json[] => {
  const { properties = {}, required } = toJsonSchema(source.hooks.query ?? {});
  const own = Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema;
    return {
      name,
      in: 'query',
      required: Array.isArray(required) && required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: toJsonSchema(rest, schemas.named),
    };
  });
  const flag = (name: string, required: boolean, description: string): Json => ({
    name,
    in: 'query',
    required,
    description,
    schema: { type: 'boolean' },
  });
  return [
    ...own,
    ...(meta.dryRun ? [flag('dry_run', false, 'reply with the planned change, and change nothing')] : []),
    ...(meta.confirm ? [flag('confirm', true, 'must be true, except in a dry run')] : []),
    ...(meta.stream
      ? [
          {
            name: 'last_event_id',
            in: 'query',
            required: false,
            description: 'like the header Last-Event-ID',
            schema: { type: 'string' },
          },
        ]
      : []),
  ];
};

const headerParameters = (entry: RouteEntry): Json[] => [
  ...(takesIdempotencyKey(entry)
    ? [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'a repetition with the same key within 24 hours gets the first reply, and is not done again',
          schema: { type: 'string', minLength: 1, maxLength: 255 },
        },
      ]
    : []),
  ...(entry.meta.stream
    ? [
        {
          name: 'Last-Event-ID',
          in: 'header',
          required: false,
          description: 'id of the last event that was read',
          schema: { type: 'string' },
        },
      ]
    : []),
];

const requestBody = (source: SourceRoute, entry: RouteEntry, schemas: SchemaSet): Json | undefined => {
  if (entry.meta.upload) return uploadBody;
  if (source.hooks.body === undefined) return undefined;
  const schema = toJsonSchema(source.hooks.body, schemas.named);
  const optional = Object.getOwnPropertySymbols(source.hooks.body).some(
    (symbol) => symbol.description === 'TypeBox.Optional',
  );
  const example = BODIES[entry.operationId] ?? exampleOf(schema, schemas.components);
  return { required: !optional, content: { 'application/json': { schema, example } } };
};

/** Bodies whose best example does not follow from the schema. */
const BODIES: Record<string, unknown> = {
  createProject: { name: 'shop' },
  createToken: {
    principal: 'ci@shop',
    capabilities: ['read', 'deploy'],
    projects: ['shop'],
    expires_at: '2027-01-31T12:00:00Z',
  },
  rollbackService: { release: 'rel_a81c55d20f3e' },
  scaleService: { replicas: 2 },
  setEnv: { LOG_LEVEL: 'debug', OLD_FLAG: null },
  createRepo: { name: 'web', deploy_service: 'web' },
  commitRepoFiles: {
    message: 'Greet by name',
    files: [
      { path: 'src/main.ts', content: 'console.log("hello");\n' },
      { path: 'bin/start', content: '#!/bin/sh\nexec node src/main.ts\n', executable: true },
      { path: 'docs/old.md', delete: true },
    ],
  },
  updateRepo: { deploy_branch: 'release' },
  createDatastore: { kind: 'postgres' },
  updateDatastore: { memory_mb: 1024 },
  forkDatastore: { name: 'staging-db' },
  restoreBackup: { key: 'bkp_01jd3kq2m5abcdefghjk' },
  queryDatastore: { query: 'select * from users where id = $1', params: [42] },
};

const uploadBody: Json = {
  required: true,
  description: 'the source directory as a gzipped tar, raw or as a form field',
  content: {
    'application/gzip': { schema: { type: 'string', format: 'binary' } },
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['source'],
        properties: { source: { type: 'string', format: 'binary', description: 'the gzipped tar' } },
      },
      encoding: { source: { contentType: 'application/gzip' } },
    },
  },
};

const successes = (source: SourceRoute, entry: RouteEntry, schemas: SchemaSet): Json => {
  if (entry.meta.stream) return { 200: eventStream };
  if (entry.operationId === 'openTunnel')
    return { 101: { description: 'The connection is a WebSocket from here on.' } };
  const replies = source.hooks.response as Record<string, unknown> | undefined;
  if (replies === undefined) return { 200: { description: 'The document.', content: otherContent(entry.operationId) } };
  return Object.fromEntries(
    Object.entries(replies).map(([status, reply]) => {
      const schema = toJsonSchema(reply, schemas.named);
      const content = { 'application/json': { schema, example: exampleOf(schema, schemas.components) } };
      return [status, { description: MEANING[status] ?? 'Done.', headers: requestIdHeader, content }];
    }),
  );
};

const MEANING: Record<string, string> = {
  200: 'Done, or the plan of a dry run.',
  201: 'Created.',
  202: 'Accepted: follow the operation.',
};

const MEDIA: Record<string, string> = {
  downloadBackup: 'application/octet-stream',
  getRepoArchive: 'application/gzip',
  getDocs: 'text/html',
  getDocsFile: 'application/octet-stream',
  getMetrics: 'text/plain',
  downloadLogs: 'text/plain',
  getOpenApiYaml: 'application/yaml',
  getSkill: 'text/markdown',
};

const otherContent = (operationId: string): Json => {
  const media = MEDIA[operationId];
  return media === undefined
    ? { 'application/json': { schema: { type: 'object' } } }
    : { [media]: { schema: { type: 'string' } } };
};

const requestIdHeader = {
  'X-Request-Id': { description: 'names the request in the log of the server', schema: { type: 'string' } },
};

const eventStream: Json = {
  description:
    'Server-sent events: `id`, `event` and JSON `data` each; a comment every 15 s. Resume with Last-Event-ID.',
  headers: requestIdHeader,
  content: {
    'text/event-stream': {
      schema: { type: 'string' },
      example:
        'id: 7\nevent: log\ndata: {"seq":7,"ts":"2026-01-31T12:00:00.000Z","source":"build","line":"added 12 packages"}\n\n',
    },
  },
};

const failures = (entry: RouteEntry): Json => {
  const byStatus = new Map<number, Record<string, Json>>();
  for (const { status, name, body } of failureCases(entry)) {
    byStatus.set(status, { ...byStatus.get(status), [name]: { value: body } });
  }
  return Object.fromEntries(
    [...byStatus].map(([status, examples]) => [
      status,
      {
        description: Object.keys(examples).join(', '),
        headers: status === 429 ? { ...requestIdHeader, ...retryAfter } : requestIdHeader,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } },
      },
    ]),
  );
};

const retryAfter = { 'Retry-After': { description: 'seconds to wait', schema: { type: 'integer' } } };
