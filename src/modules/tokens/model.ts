import { Type, type Static } from '@sinclair/typebox';
import { CapabilitySchema, Name, nullable, Timestamp } from '#kernel/schema';

const ProjectScope = Type.Union([Name, Type.Literal('*')]);

export const TokenSchema = Type.Object({
  id: Type.String({ examples: ['tok_01jd3kq2m5abcdefghjk'] }),
  principal: Type.String({ description: 'who or what the token speaks for', examples: ['ci@shop'] }),
  capabilities: Type.Array(CapabilitySchema),
  projects: Type.Array(ProjectScope, { description: 'project names, or `*` for all' }),
  created_at: Timestamp,
  created_by: Type.String(),
  last_used_at: nullable(Timestamp),
  expires_at: nullable(Timestamp),
});

/** The caller's own token: what it may do, and where. */
export const WhoamiReply = Type.Object({
  token_id: TokenSchema.properties.id,
  principal: TokenSchema.properties.principal,
  capabilities: TokenSchema.properties.capabilities,
  projects: TokenSchema.properties.projects,
  expires_at: TokenSchema.properties.expires_at,
});

export const CreateTokenBody = Type.Object(
  {
    principal: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$',
      description: '1 to 100 printable ASCII characters, none of them a space at an end',
    }),
    capabilities: Type.Array(CapabilitySchema, { minItems: 1, uniqueItems: true }),
    projects: Type.Array(ProjectScope, { minItems: 1, maxItems: 200, uniqueItems: true }),
    expires_at: Type.Optional(nullable(Timestamp)),
  },
  { additionalProperties: false },
);

/** Body of `updateToken`; at least one. */
export const UpdateTokenBody = Type.Partial(
  Type.Object({
    capabilities: CreateTokenBody.properties.capabilities,
    projects: CreateTokenBody.properties.projects,
    expires_at: nullable(Timestamp),
  }),
  { additionalProperties: false, minProperties: 1 },
);

export const CreateTokenReply = Type.Composite([
  TokenSchema,
  Type.Object({ secret: Type.String({ description: 'returned exactly once' }), created: Type.Literal(true) }),
]);

export type Token = Static<typeof TokenSchema>;
export type Whoami = Static<typeof WhoamiReply>;

export const RevokeTokenReply = Type.Composite([TokenSchema, Type.Object({ revoked_at: Timestamp })]);

export type CreateToken = Static<typeof CreateTokenBody>;
export type UpdateToken = Static<typeof UpdateTokenBody>;
export type CreatedToken = Static<typeof CreateTokenReply>;
export type RevokedToken = Static<typeof RevokeTokenReply>;
