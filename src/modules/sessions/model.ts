import { Type, type Static } from '@sinclair/typebox';
import { nullable, Timestamp } from '#kernel/schema';
import { WhoamiReply } from '#modules/tokens';

export const SignInBody = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: 200, description: 'a token: `brt_…`' }) },
  { additionalProperties: false },
);

const { token_id, principal, capabilities, projects } = WhoamiReply.properties;

/** What the browser that asks may do, and how long. */
export const BrowserSessionSchema = Type.Object({
  id: Type.String({ examples: ['ses_01jd3kq2m5abcdefghjk'] }),
  token_id,
  principal,
  capabilities,
  projects,
  token_expires_at: nullable(Timestamp),
  created_at: Timestamp,
  expires_at: Type.String({
    format: 'date-time',
    description: '12 hours after the last use, at most 7 days after the beginning, never after the token',
  }),
});

export const SessionSchema = Type.Object({
  id: BrowserSessionSchema.properties.id,
  current: Type.Boolean({ description: 'whether this request came with it' }),
  created_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: BrowserSessionSchema.properties.expires_at,
});

export const EndedSchema = Type.Object({ ended: Type.Integer({ description: 'how many sessions' }) });

export type BrowserSession = Static<typeof BrowserSessionSchema>;
export type ListedSession = Static<typeof SessionSchema>;
export type Ended = Static<typeof EndedSchema>;
