import { createStreams } from '#http/streams';
import { createEvents } from '#modules/events';
import { createSessions } from '#modules/sessions';
import { createTokens } from '#modules/tokens';
import type { Base } from './base.ts';

/** Who may do what: tokens, the browsers that are signed in with them, and the streams that end with both. */
export const createAccess = ({ config, clock, newId, db }: Base) => {
  const streams = createStreams(clock);
  const events = createEvents({ db, clock, newId });
  const tokens = createTokens({
    db,
    clock,
    newId,
    rateLimitPerMinute: config.rateLimitPerMinute,
    emit: events.emit,
    onRevoked: (tokenId) => streams.endToken(tokenId),
  });
  const sessions = createSessions({
    db,
    clock,
    newId,
    authenticator: tokens.authenticator,
    emit: events.emit,
    onEnded: (sessionId) => streams.endSession(sessionId),
  });
  return { streams, events, tokens, sessions };
};
