import type { Capability } from './scope.ts';

/** Who acts: a token's principal, or berth itself. */
export interface Actor {
  /** `tok_…`, or `system`. */
  tokenId: string;
  principal: string;
  capabilities: readonly Capability[];
  /** Project names, or `*` alone for all. */
  projects: readonly string[];
  /** Milliseconds since the epoch; null for a token without expiry. */
  expiresAt: number | null;
}

/** What every verb gets first: who asks, for which request, and whether anything may change. */
export interface Ctx {
  actor: Actor;
  requestId: string;
  dryRun: boolean;
}

export const SYSTEM_ACTOR: Actor = {
  tokenId: 'system',
  principal: 'berth',
  capabilities: ['admin'],
  projects: ['*'],
  expiresAt: null,
};

export const systemCtx = (requestId: string): Ctx => ({ actor: SYSTEM_ACTOR, requestId, dryRun: false });
