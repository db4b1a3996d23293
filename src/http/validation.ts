import { invalidInput, type BerthError } from '#kernel/errors';

/** One finding of the schema checker. */
export interface Finding {
  /** JSON pointer, e.g. `/projects/0`. */
  path: string;
  message: string;
  schema: SchemaLike;
}

/** The parts of a JSON schema that a message can be made from. */
export interface SchemaLike {
  type?: string;
  description?: string;
  const?: unknown;
  anyOf?: SchemaLike[];
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  properties?: Record<string, unknown>;
  patternProperties?: Record<string, unknown>;
}

/** Formats by which the framework says that a query string stands for a number or a boolean. */
const TEXT_OF_OTHERS = new Set(['numeric', 'integer', 'boolean']);

const SHOWN = 3;

/** Names the fields at fault, and what each should be. Values are never repeated: they may be secrets. */
export const describeFindings = (where: string, findings: readonly Finding[]): BerthError => {
  const byPath = new Map<string, Finding>();
  for (const finding of findings) if (!byPath.has(finding.path)) byPath.set(finding.path, finding);
  const sentences = [...byPath.values()].slice(0, SHOWN).map((finding) => sentenceFor(where, finding));
  const message = sentences.map((sentence) => sentence.message).join('; ');
  const hints = [...new Set(sentences.map((sentence) => sentence.hint))];
  return invalidInput(message || `${where} is not valid`, hints.join('; ') || 'follow the schema in GET /v1/openapi');
};

interface Sentence {
  message: string;
  hint: string;
}

const sentenceFor = (where: string, { path, message, schema }: Finding): Sentence => {
  const field = fieldName(where, path);
  if (message === 'Unexpected property') return unknownKey(where, path, schema);
  const wanted = expected(schema);
  if (message === 'Expected required property')
    return { message: `${field} is missing`, hint: `set ${field} to ${wanted}` };
  const keys = Object.keys(schema.properties ?? {}).join(', ');
  return {
    message: `${field} must be ${wanted}`,
    hint: keys === '' ? `set ${field} to ${wanted}` : `send an object with: ${keys}`,
  };
};

const unknownKey = (where: string, path: string, schema: SchemaLike): Sentence => {
  const field = fieldName(where, path);
  const [pattern] = Object.keys(schema.patternProperties ?? {});
  if (pattern !== undefined) {
    return { message: `${field} is not a valid key`, hint: `keys must match ${pattern}` };
  }
  const known = Object.keys(schema.properties ?? {}).join(', ');
  return { message: `${field} is unknown`, hint: known === '' ? 'no keys are valid here' : `valid keys: ${known}` };
};

/** `/a/0/b` in the body → `body.a[0].b`. */
export const fieldName = (where: string, path: string): string => {
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 60));
  return where + parts.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join('');
};

/** What a schema wants, in words. */
export const expected = (schema: SchemaLike): string => {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return alternatives(schema.anyOf);
  switch (schema.type ?? '') {
    case 'string':
      return textOf(schema);
    case 'integer':
      return `a whole number${rangeOf(schema.minimum, schema.maximum)}`;
    case 'number':
      return `a ${schema.multipleOf === 1 ? 'whole ' : ''}number${rangeOf(schema.minimum, schema.maximum)}`;
    case 'array':
      return `a list${schema.uniqueItems === true ? ' without repetitions' : ''}${countOf(schema.minItems, schema.maxItems, 'items')}`;
    case 'object':
      return `an object${countOf(schema.minProperties, schema.maxProperties, 'keys')}`;
    default:
      return schema.type ?? 'what the schema says';
  }
};

const alternatives = (all: readonly SchemaLike[]): string => {
  const options = all.filter((option) => !TEXT_OF_OTHERS.has(option.format ?? ''));
  const allConstants = options.every((option) => option.const !== undefined);
  const words = [...new Set(options.map(expected))];
  return allConstants ? `one of ${words.join(', ')}` : words.join(' or ');
};

const textOf = (schema: SchemaLike): string => {
  if (schema.format === 'date-time') return 'an RFC 3339 time such as "2026-01-31T12:00:00Z"';
  if (schema.pattern !== undefined)
    return `a string${schema.description === undefined ? ` that matches ${schema.pattern}` : ` (${schema.description})`}`;
  return `a string${countOf(schema.minLength, schema.maxLength, 'characters')}`;
};

const rangeOf = (minimum: number | undefined, maximum: number | undefined): string => {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? '' : ` of at most ${maximum}`;
};

const countOf = (minimum: number | undefined, maximum: number | undefined, what: string): string => {
  const range = rangeOf(minimum, maximum);
  return range === '' ? '' : ` with${range.replace(/^ of/, '').replace(/^ from/, '')} ${what}`;
};
