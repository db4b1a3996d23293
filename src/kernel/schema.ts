import { Type, type SchemaOptions, type TSchema, type Static } from '@sinclair/typebox';
import { ERROR_CODES } from './errors.ts';
import { PlannedBuildSchema } from './planned-build.ts';
import { CAPABILITIES } from './scope.ts';

/** Lower-case letters, digits and single dashes; starts with a letter, does not end with a dash. */
export const NAME_PATTERN = '^(?!.*--)[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?$';
const NAME_REGEXP = new RegExp(NAME_PATTERN);
export const isName = (text: string): boolean => NAME_REGEXP.test(text);

export const NAME_RULE =
  'a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters';

export const Name = Type.String({ pattern: NAME_PATTERN, maxLength: 30, description: NAME_RULE, examples: ['web'] });

/** Names of environment variables: POSIX, with lower case allowed. */
export const ENV_NAME_PATTERN = '^[A-Za-z_][A-Za-z0-9_]{0,127}$';

export const Timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC' });

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** One of a closed list of words. A union of mapped literals alone would be `never` to Elysia. */
export const oneOf = <T extends string>(values: readonly T[], options: SchemaOptions = {}) =>
  Type.Unsafe<T>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      options,
    ),
  );

export const CapabilitySchema = oneOf(CAPABILITIES);

export const ErrorBodySchema = Type.Object(
  {
    code: oneOf(ERROR_CODES),
    message: Type.String(),
    hint: Type.String({ description: 'the next action to take' }),
    retryable: Type.Boolean(),
    log_tail: Type.Optional(Type.String({ description: 'tail of the build or application log' })),
  },
  { additionalProperties: false },
);

/** One planned change of a `dry_run=true` reply. Further keys describe the resource. */
export const ChangeSchema = Type.Object(
  {
    action: Type.String({ examples: ['create', 'update', 'delete', 'restart'] }),
    resource: Type.String({ examples: ['service'] }),
    name: Type.String(),
    build: Type.Optional(PlannedBuildSchema),
  },
  { additionalProperties: true },
);

export const DryRunSchema = Type.Object({
  dry_run: Type.Literal(true),
  plan: Type.Object({ summary: Type.String(), changes: Type.Array(ChangeSchema) }),
});

/** A planned change; further keys describe the resource. */
export type Change = Static<typeof ChangeSchema> & Record<string, unknown>;
export type DryRun = Static<typeof DryRunSchema>;

export const dryRun = (summary: string, changes: Change[]): DryRun => ({ dry_run: true, plan: { summary, changes } });

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 200;

/** A list reply: `{"<plural>": [...], "next_cursor": null}`. */
export const listOf = <K extends string, T extends TSchema>(plural: K, item: T) =>
  Type.Object({ [plural]: Type.Array(item), next_cursor: nullable(Type.String()) } as {
    [P in K]: ReturnType<typeof Type.Array<T>>;
  } & { next_cursor: ReturnType<typeof nullable<ReturnType<typeof Type.String>>> });

export interface Page {
  limit: number;
  /** The last sort key of the page before; undefined at the start. */
  after: string | undefined;
}
