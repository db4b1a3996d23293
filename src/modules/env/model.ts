import { Type, type Static } from '@sinclair/typebox';
import { listOf, Timestamp } from '#kernel/schema';
import { AcceptedSchema } from '#modules/operations';

type EnvMap = Record<string, string | null>;

/** The map itself, or the map under `env`. Checked by `parseEnvBody`, whose messages never repeat a value. */
export const SetEnvBody = Type.Unsafe<EnvMap | { env: EnvMap }>(
  Type.Record(Type.String(), Type.Unknown(), {
    description:
      'name → value, merged into the environment; null unsets. The same map under `env` alone is accepted too.',
    examples: [{ GREETING: 'hello', OLD_NAME: null }],
  }),
);

export const SetEnvReply = Type.Object({
  names: Type.Array(Type.String(), { description: 'all names set now' }),
  set: Type.Array(Type.String()),
  unset: Type.Array(Type.String()),
  restarted_services: Type.Array(Type.String()),
  operations: Type.Array(Type.Composite([Type.Object({ service: Type.String() }), AcceptedSchema]), {
    description: 'the rolling restarts under way',
  }),
});

const EnvEntry = Type.Object({ name: Type.String(), updated_at: Timestamp, updated_by: Type.String() });

export const ListEnvReply = Type.Composite([
  Type.Object({
    names: Type.Array(Type.String()),
    injected: Type.Array(Type.Object({ name: Type.String(), datastore: Type.String() }), {
      description: 'what services are given for datastores; a name that is set comes before it',
    }),
  }),
  listOf('env', EnvEntry),
]);

export type SetEnv = Static<typeof SetEnvReply>;
export type EnvEntry = Static<typeof EnvEntry>;
