/**
 * The types of clients/typescript from the server's own OpenAPI document. (The usual generator needs the compiler API that
 * TypeScript 7 no longer has.) To bring them up to date: BERTH_UPDATE_DOCS=1 bun test test/clients/types.test.ts
 */

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  items?: Schema;
  description?: string;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  operationId: string;
  summary?: string;
  parameters?: Parameter[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content>;
}

export interface OpenApi {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The module `types.ts` of the client. */
export const clientTypes = ({ paths, components }: OpenApi): string =>
  [
    '// Made from GET /v1/openapi; do not edit. BERTH_UPDATE_DOCS=1 bun test test/clients/types.test.ts',
    "import type { Bytes } from './http.ts';",
    '',
    ...Object.entries(components.schemas).map(
      ([name, schema]) => `${comment(schema.description, '')}export type ${name} = ${typeOf(schema, '')};\n`,
    ),
    '/** Every operation of the API: by path, then by method. */',
    'export interface Paths {',
    ...Object.entries(paths).flatMap(([path, methods]) => [
      `  ${JSON.stringify(path)}: {`,
      ...METHODS.flatMap((method) => (methods[method] === undefined ? [] : operation(method, methods[method]))),
      '  };',
    ]),
    '}',
    '',
  ].join('\n');

const operation = (method: string, declared: Operation): string[] => {
  const indent = '      ';
  const inPlace = (place: string): Parameter[] =>
    (declared.parameters ?? []).filter((parameter) => parameter.in === place);
  const path = inPlace('path');
  const query = inPlace('query');
  const body = declared.requestBody;
  return [
    `${comment(declared.summary, '    ')}    ${method.toUpperCase()}: {`,
    ...(path.length === 0 ? [] : [`${indent}path: ${parameters(path, indent)};`]),
    ...(query.length === 0 ? [] : [`${indent}query: ${parameters(query, indent)};`]),
    ...(body === undefined ? [] : [`${indent}body: ${bodyType(body, indent)};`]),
    `${indent}reply: ${replyType(declared, indent)};`,
    '    };',
  ];
};

const parameters = (list: readonly Parameter[], indent: string): string => {
  const inner = `${indent}  `;
  const lines = list.map(
    ({ name, required, description, schema }) =>
      `${comment(description, inner)}${inner}${key(name)}${required === true ? '' : '?'}: ${typeOf(schema, inner)};`,
  );
  return `{\n${lines.join('\n')}\n${indent}}`;
};

const bodyType = ({ content = {} }: Content, indent: string): string => {
  const json = content['application/json']?.schema;
  return json === undefined ? 'Bytes' : typeOf(json, indent);
};

/** What comes with success; the plans of dry runs included. Other than JSON is left to the caller. */
const replyType = ({ responses }: Operation, indent: string): string => {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => {
      if (content === undefined) return 'undefined';
      const json = content['application/json']?.schema;
      return json === undefined ? 'Response' : typeOf(json, indent);
    });
  return union(types);
};

const typeOf = (schema: Schema, indent: string): string => {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.anyOf !== undefined) return union(schema.anyOf.map((each) => typeOf(each, indent)));
  if (schema.allOf !== undefined) return schema.allOf.map((each) => typeOf(each, indent)).join(' & ');
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, indent)));
  switch (schema.type) {
    case 'object':
      return objectType(schema, indent);
    case 'array':
      return `Array<${schema.items === undefined ? 'unknown' : typeOf(schema.items, indent)}>`;
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case undefined:
    default:
      return 'unknown';
  }
};

const objectType = (schema: Schema, indent: string): string => {
  const inner = `${indent}  `;
  const lines = Object.entries(schema.properties ?? {}).map(([name, each]) => {
    const optional = schema.required?.includes(name) === true ? '' : '?';
    return `${comment(each.description, inner)}${inner}${key(name)}${optional}: ${typeOf(each, inner)};`;
  });
  const known = lines.length === 0 ? undefined : `{\n${lines.join('\n')}\n${indent}}`;
  const [pattern] = Object.values(schema.patternProperties ?? {});
  const others = pattern ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  if (others !== undefined) {
    const record = `Record<string, ${typeOf(others, indent)}>`;
    return known === undefined ? record : `${known} & ${record}`;
  }
  return known ?? 'Record<string, unknown>';
};

const union = (types: readonly string[]): string => {
  // Literals beside their own type say nothing more.
  const distinct = [...new Set(types)].filter((type) => !types.includes('string') || !type.startsWith('"'));
  return distinct.length === 0 ? 'unknown' : distinct.join(' | ');
};

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

const comment = (text: string | undefined, indent: string): string =>
  text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */\n`;
