import type { Actor } from './scope.ts';

export type { Actor } from './scope.ts';

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
