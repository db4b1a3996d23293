import { Type, type Static } from '@sinclair/typebox';
import { ENV_NAME_PATTERN, nullable } from '#kernel/schema';

/** The map itself, `{"NAME": "value", "GONE": null}`. `null` unsets. */
export const SetEnvBody = Type.Record(Type.String({ pattern: ENV_NAME_PATTERN }), nullable(Type.String({ maxLength: 65_536 })), {
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 500,
});

export const SetEnvReply = Type.Object({
  names: Type.Array(Type.String(), { description: 'all names set now' }),
  set: Type.Array(Type.String()),
  unset: Type.Array(Type.String()),
  restarted_services: Type.Array(Type.String()),
  operations: Type.Array(Type.Object({ service: Type.String(), operation_id: Type.String(), stream_url: Type.String() }), {
    description: 'the rolling restarts under way',
  }),
});

export const ListEnvReply = Type.Object({
  names: Type.Array(Type.String()),
  env: Type.Array(Type.Object({ name: Type.String(), updated_at: Type.String(), updated_by: Type.String() })),
  next_cursor: Type.Null(),
});

export type SetEnv = Static<typeof SetEnvReply>;
