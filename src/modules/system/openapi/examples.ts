import type { JsonSchema } from './schema.ts';

/** What a field of this name looks like, wherever its schema allows it. */
const BY_NAME: Record<string, unknown> = {
  actor: 'ci@shop',
  build_cache_bytes: 734003200,
  capabilities: ['deploy', 'read'],
  commit: null,
  containers_running: 9,
  count: 3,
  cpu: 0.02,
  cpus: 1,
  created: true,
  created_by: 'admin',
  data: { service: 'web', operation_id: 'op_01jd3kq2m5abcdefghjk' },
  digest: 'sha256:3f2a9c01b7de58a1c04f2b6de1f0a0c5b7f7f9f1f7a34f0a6f1f0a3b2c1d0e9f',
  env_keys: ['DATABASE_URL'],
  datastore: 'postgres',
  error: null,
  host: 'postgres.db.internal',
  exit_code: null,
  expires_at: null,
  health_path: '/healthz',
  health_timeout_seconds: 60,
  holds: 'state, uploads, logs, registry',
  id: 'rel_3f2a9c01b7de',
  key: 'bkp_01jd3kq2m5abcdefghjk',
  kind: 'postgres',
  last_used_at: null,
  live_release: 'rel_3f2a9c01b7de',
  memory_bytes: 41943040,
  memory_limit_bytes: 536870912,
  memory_mb: 512,
  clone_url: 'https://berth.example.com/git/shop/web.git',
  default_branch: 'main',
  deploy_branch: null,
  deploy_service: 'web',
  mirror_error: null,
  mirror_of: null,
  root: null,
  webhook_secret: null,
  webhook_url: null,
  variables: ['DATABASE_URL', 'PGHOST'],
  names: ['DATABASE_URL', 'LOG_LEVEL'],
  next_cursor: null,
  next_offset: null,
  operation_id: 'op_01jd3kq2m5abcdefghjk',
  path: '/var/lib/berth',
  phase: 'healthy',
  plan: { summary: 'scale web to 2 replicas', changes: [{ action: 'update', resource: 'service', name: 'web' }] },
  port: 8080,
  previous_release: 'rel_a81c55d20f3e',
  principal: 'ci@shop',
  problem: null,
  project: 'shop',
  projects: ['shop'],
  provider: 'node',
  release: 'rel_3f2a9c01b7de',
  replica: 'web-1',
  replicas: 2,
  restarted_services: ['web'],
  result: { release: 'rel_3f2a9c01b7de', service_url: 'http://web--shop.localhost' },
  secret: 'brt_01jd3kq2m5abcdefghjk_<64 hex digits>',
  service: 'web',
  service_url: 'http://web--shop.localhost',
  set: ['LOG_LEVEL'],
  size_bytes: 48234496,
  source_sha256: null,
  start_command: ['node', 'server.js'],
  started_at: '2026-01-31T12:00:01.250Z',
  state: 'active',
  stream_url: '/v1/operations/op_01jd3kq2m5abcdefghjk/stream',
  updated_by: 'admin',
  version: '0.1.0',
};

/** The better words of closed lists. */
const PREFERRED = new Set<unknown>([
  'succeeded',
  'running',
  'ok',
  'deploy',
  'healthy',
  'live',
  'deploy.succeeded',
  'read',
]);

/** An example that the schema allows. References are followed in `components`. */
export const exampleOf = (schema: JsonSchema, components: Record<string, JsonSchema>, name = ''): unknown => {
  const target = schema.$ref === undefined ? schema : (components[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  if (target.const !== undefined) return target.const;
  if (name === 'error') return null;
  const [given] = (target['examples'] as unknown[] | undefined) ?? [];
  if (given !== undefined) return given;
  const known = name in BY_NAME && fits(BY_NAME[name], target) ? BY_NAME[name] : undefined;
  if (known !== undefined) return known;
  if (target.enum !== undefined) return target.enum.find((word) => PREFERRED.has(word)) ?? target.enum[0];
  if (target.anyOf !== undefined) return exampleOf(target.anyOf[0] ?? {}, components, name);
  return fromType(target, components, name);
};

const fromType = (schema: JsonSchema, components: Record<string, JsonSchema>, name: string): unknown => {
  switch (schema.type ?? '') {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, part]) => [key, exampleOf(part, components, key)]),
      );
    case 'array':
      return schema.items === undefined ? [] : [exampleOf(schema.items, components, singular(name))];
    case 'integer':
    case 'number':
      return schema['minimum'] ?? 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return schema.format === 'date-time' ? '2026-01-31T12:00:00.000Z' : 'text';
  }
};

const singular = (name: string): string => (name.endsWith('s') ? name.slice(0, -1) : name);

/** A cheap check that keeps a known value from a field of another kind; the tests check all examples in full. */
const fits = (value: unknown, schema: JsonSchema): boolean => {
  if (schema.$ref !== undefined) return typeof value === 'object';
  if (schema.anyOf !== undefined) return schema.anyOf.some((option) => fits(value, option));
  if (schema.enum !== undefined) return schema.enum.includes(value);
  switch (schema.type ?? '') {
    case 'string':
      return (
        typeof value === 'string' &&
        (typeof schema['pattern'] !== 'string' || new RegExp(schema['pattern']).test(value))
      );
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value) && value.every((item) => schema.items === undefined || fits(item, schema.items));
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value) && hasRequired(value, schema);
    default:
      return true;
  }
};

const hasRequired = (value: object, schema: JsonSchema): boolean =>
  ((schema['required'] as string[] | undefined) ?? []).every((key) => key in value);
