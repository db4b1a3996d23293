/** A JSON schema of OpenAPI 3.1 (draft 2020-12), as plain data. */
export interface JsonSchema {
  [key: string]: unknown;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  $ref?: string;
  format?: string;
}

/** Formats by which the framework says that the text of a query parameter stands for something else. */
const TEXT_OF_OTHERS = new Set(['numeric', 'integer', 'boolean']);

/** Schemas that have a name in the document, by their content. */
export type NamedSchemas = ReadonlyMap<string, string>;

export const nameSchemas = (schemas: Record<string, unknown>): NamedSchemas =>
  new Map(Object.entries(schemas).map(([name, schema]) => [JSON.stringify(toJsonSchema(schema)), name]));

/** Turns a TypeBox schema into plain JSON schema; parts that have a name become references. */
export const toJsonSchema = (schema: unknown, named: NamedSchemas = new Map()): JsonSchema => {
  const plain = convert(JSON.parse(JSON.stringify(schema)) as JsonSchema);
  return refer(plain, named);
};

const refer = (schema: JsonSchema, named: NamedSchemas): JsonSchema => {
  if (named.size === 0) return schema;
  const name = named.get(JSON.stringify(schema));
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  return mapParts(schema, (part) => refer(part, named));
};

/** A schema with its own parts replaced by names, but not itself. */
export const referParts = (schema: unknown, named: NamedSchemas): JsonSchema =>
  mapParts(toJsonSchema(schema), (part) => refer(part, named));

const mapParts = (schema: JsonSchema, map: (part: JsonSchema) => JsonSchema): JsonSchema => {
  const mapped: JsonSchema = { ...schema };
  if (schema.properties !== undefined) mapped.properties = mapValues(schema.properties, map);
  if (schema.items !== undefined) mapped.items = map(schema.items);
  if (schema.anyOf !== undefined) mapped.anyOf = schema.anyOf.map(map);
  for (const key of ['patternProperties', '$defs'] as const) {
    const parts = schema[key];
    if (isSchema(parts)) mapped[key] = mapValues(parts as Record<string, JsonSchema>, map);
  }
  if (isSchema(schema['additionalProperties'])) mapped['additionalProperties'] = map(schema['additionalProperties']);
  return mapped;
};

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const mapValues = <T, U>(values: Record<string, T>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));

const convert = (schema: JsonSchema): JsonSchema => {
  const mapped = mapParts(schema, convert);
  if (mapped.anyOf === undefined) return mapped;
  const { anyOf, ...rest } = mapped;
  const options = anyOf.filter((option) => !TEXT_OF_OTHERS.has(option.format ?? ''));
  const [only] = options;
  if (options.length === 1 && only !== undefined) return withWholeNumbers({ ...only, ...textsOf(rest) });
  if (options.every((option) => option.const !== undefined)) {
    return { ...rest, type: 'string', enum: options.map((option) => option.const) };
  }
  return { ...rest, anyOf: options };
};

/** What describes a schema rather than constrains it. */
const textsOf = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => ['description', 'examples', 'title'].includes(key)));

const withWholeNumbers = (schema: JsonSchema): JsonSchema => {
  if (schema['multipleOf'] !== 1) return schema;
  const { multipleOf: _, ...rest } = schema;
  return { ...rest, type: 'integer' };
};
