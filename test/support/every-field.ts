/** The part of an operation in an OpenAPI document that says which strings a caller may send. */
export interface Operation {
  operationId: string;
  parameters?: { in: string; name: string; schema?: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  const?: unknown;
  additionalProperties?: unknown;
}

/** One place of one operation where a caller may put a string. */
export interface Field {
  name: string;
  method: string;
  path: string;
  operation: Operation;
  place: 'path' | 'query' | 'header' | 'body' | 'body key';
  key: string;
}

const HEADERS = ['Idempotency-Key', 'Last-Event-ID', 'X-Request-Id', 'User-Agent'];

/** Every string field of every operation. */
export const fieldsOf = (paths: Record<string, Record<string, Operation>>): Field[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const field = (place: Field['place'], key: string): Field => ({
        name: `${operation.operationId} ${place} ${key}`,
        method: method.toUpperCase(),
        path,
        operation,
        place,
        key,
      });
      const parameters = (operation.parameters ?? []).filter((parameter) => ['path', 'query'].includes(parameter.in));
      const body = bodySchema(operation);
      return [
        ...parameters.map((parameter) => field(parameter.in === 'path' ? 'path' : 'query', parameter.name)),
        field('query', 'unknown'),
        ...HEADERS.map((header) => field('header', header)),
        ...Object.keys(body?.properties ?? {}).map((key) => field('body', key)),
        ...(body === undefined ? [] : [field('body key', 'key')]),
      ];
    }),
  );

const bodySchema = (operation: Operation): Schema | undefined =>
  operation.requestBody?.content['application/json']?.schema;

const VALID: Record<string, unknown> = {
  name: 'fine',
  principal: 'ci',
  capabilities: ['read'],
  projects: ['shop'],
};
const PATH_VALUES: Record<string, string> = { project: 'shop', service: 'none', id: 'op_none' };

export interface Built {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** A request that is fine but for `payload` in that field. */
export const requestWith = (field: Field, payload: string): Built => {
  const { method, operation, place, key } = field;
  const path = field.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    place === 'path' && name === key ? encodeURIComponent(payload) : (PATH_VALUES[name] ?? 'none'),
  );
  const query = place === 'query' ? `?${encodeURIComponent(key)}=${encodeURIComponent(payload)}` : '';
  const headers: Record<string, string> = {};
  // A client cannot put control characters or anything beyond Latin-1 into a header.
  if (place === 'header') headers[key] = payload.replaceAll(/[^\x20-\xff]/g, '?');
  const schema = bodySchema(operation);
  if (schema === undefined) return { method, path: `${path}${query}`, headers };
  const body: Record<string, unknown> = {};
  for (const name of schema.required ?? []) body[name] = VALID[name] ?? 'fine';
  if (place === 'body') body[key] = wrap(schema.properties?.[key], payload);
  const text = place === 'body key' ? `{${JSON.stringify(payload)}:${JSON.stringify(payload)}}` : JSON.stringify(body);
  return { method, path: `${path}${query}`, headers: { ...headers, 'content-type': 'application/json' }, body: text };
};

const wrap = (schema: Schema | undefined, payload: string): unknown => (schema?.type === 'array' ? [payload] : payload);
