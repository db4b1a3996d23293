import { Name, Timestamp } from '#kernel/schema';
import { toJsonSchema, type JsonSchema } from '#modules/system';
import { outputOf, type Tool } from './tool.ts';

export type ObjectSchema = JsonSchema & { type: 'object' };

/** What constrains input, and would only be noise about output. */
const CONSTRAINTS = new Set([
  'pattern',
  'format',
  'examples',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
]);

/** A list that is longer says less than it costs. */
const LONGEST_ENUM = 20;
/** What every name and time would repeat. */
const REPEATED = new Set<unknown>([Name.description, Timestamp.description]);

/** The tool's input as JSON schema. */
export const inputSchema = (tool: Tool): ObjectSchema => ({
  ...openRecords(toJsonSchema(tool.input)),
  type: 'object',
});

/** The tool's structured content as JSON schema. */
export const outputSchema = (tool: Tool): ObjectSchema => {
  const { anyOf, ...rest } = JSON.parse(JSON.stringify(outputOf(tool))) as JsonSchema;
  return {
    ...withoutConstraints(openRecords(toJsonSchema(rest))),
    type: 'object',
    ...(anyOf === undefined ? {} : { anyOf }),
  };
};

/** Maps as models know them: `additionalProperties` instead of a pattern that every key matches. */
const openRecords = (schema: JsonSchema): JsonSchema =>
  mapDeep(schema, ({ patternProperties, ...rest }) => {
    const values = Object.values((patternProperties as Record<string, JsonSchema> | undefined) ?? {});
    return values[0] === undefined ? rest : { ...rest, type: 'object', additionalProperties: values[0] };
  });

const withoutConstraints = (schema: JsonSchema): JsonSchema =>
  mapDeep(schema, (part) => Object.fromEntries(Object.entries(part).filter(([key, value]) => !isNoise(key, value))));

const isNoise = (key: string, value: unknown): boolean => {
  if (key === 'additionalProperties') return value === false;
  if (key === 'enum') return Array.isArray(value) && value.length > LONGEST_ENUM;
  if (key === 'description') return REPEATED.has(value);
  return CONSTRAINTS.has(key);
};

const mapDeep = (schema: JsonSchema, map: (schema: JsonSchema) => JsonSchema): JsonSchema => {
  const mapped = map(schema);
  const down = (part: JsonSchema): JsonSchema => mapDeep(part, map);
  const deeper: JsonSchema = { ...mapped };
  if (mapped.properties !== undefined)
    deeper.properties = Object.fromEntries(Object.entries(mapped.properties).map(([name, part]) => [name, down(part)]));
  if (mapped.items !== undefined) deeper.items = down(mapped.items);
  if (mapped.anyOf !== undefined) deeper.anyOf = mapped.anyOf.map(down);
  const others = mapped['additionalProperties'];
  if (typeof others === 'object' && others !== null) deeper['additionalProperties'] = down(others as JsonSchema);
  return deeper;
};
