import { isoTime, type Clock } from '#kernel/clock';
import { SYSTEM_ACTOR, type Actor, type Ctx } from '#kernel/ctx';
import { conflict, notFound } from '#kernel/errors';
import type { NewId } from '#kernel/ids';
import { dryRun, type DryRun, type Page } from '#kernel/schema';
import { inScope, requireCapability } from '#kernel/scope';
import type { Database } from 'bun:sqlite';
import { createAuthenticator, type TokenAuthenticator } from './authenticator.ts';
import { requireGrantable } from './grants.ts';
import type { CreatedToken, CreateToken, RevokedToken, Token, UpdateToken } from './model.ts';
import { hashSecret, newSecret } from './secret.ts';
import { createTokenStore, type TokenRow, type TokenStore } from './store.ts';

/** The verbs on tokens. */
export interface Tokens {
  createToken(ctx: Ctx, wanted: CreateToken): CreatedToken | DryRun;
  /** Newest first; at most `page.limit + 1`. Only those that reach into no project beyond the caller's scope. */
  listTokens(ctx: Ctx, page: Page): Token[];
  /** Takes effect before it returns; open streams end, and can be opened anew with what is left. NOT_FOUND beyond the caller's scope. */
  updateToken(ctx: Ctx, id: string, wanted: UpdateToken): Token | DryRun;
  /** Takes effect before it returns, for open streams too. Revoking again changes nothing. NOT_FOUND beyond the caller's scope. */
  revokeToken(ctx: Ctx, id: string): RevokedToken | DryRun;
  /** The secret of the first admin token, on the first start; undefined on later ones. */
  bootstrap(): string | undefined;
  authenticator: TokenAuthenticator;
  /** Writes down what is only in memory. */
  stop(): void;
}

export interface TokenEvent {
  project: string;
  kind: 'token.created' | 'token.updated' | 'token.revoked';
  actor: string;
  data: Record<string, unknown>;
}

export interface TokensDeps {
  db: Database;
  clock: Clock;
  newId: NewId;
  /** Requests a token may send in a minute; 0 for no limit. */
  rateLimitPerMinute: number;
  /** Records an event, within the transaction under way. */
  emit: (event: TokenEvent) => void;
  /** Ends what a token has open. */
  onRevoked: (tokenId: string) => void;
}

export const createTokens = (deps: TokensDeps): Tokens => {
  const { clock } = deps;
  const store = createTokenStore(deps.db);
  const authenticator = createAuthenticator(store, clock, deps.rateLimitPerMinute);
  const { mint, update, revoke } = createChanges(deps, store);
  const requireRow = (ctx: Ctx, id: string): TokenRow => {
    const row = store.get(id);
    if (row === undefined || !row.projects.every((project) => inScope(ctx.actor, project)))
      throw notFound(`no token "${id}"`, 'list tokens with GET /v1/tokens');
    return row;
  };
  const view = (row: TokenRow): Token => tokenView(row, authenticator.usedAt(row.id) ?? row.last_used_at);

  return {
    authenticator,
    createToken: (ctx, wanted) => {
      requireCapability(ctx.actor, 'manage_tokens');
      const { expiresAt } = requireGrantable(ctx.actor, wanted, clock.now());
      if (ctx.dryRun) return mintingPlan(wanted);
      const { row, secret } = mint(ctx.actor, wanted, expiresAt);
      return { ...view(row), secret, created: true };
    },
    listTokens: (ctx, page) => {
      requireCapability(ctx.actor, 'admin');
      return store.list(ctx.actor.projects, page).map(view);
    },
    updateToken: (ctx, id, wanted) => {
      requireCapability(ctx.actor, 'admin');
      const row = requireRow(ctx, id);
      if (row.revoked_at !== null) throw conflict(`token ${id} is revoked`, 'create another with POST /v1/tokens');
      const { principal, capabilities, projects } = { ...row, ...wanted };
      const { expiresAt } = requireGrantable(ctx.actor, { ...wanted, principal, capabilities, projects }, clock.now());
      const expires = wanted.expires_at === undefined ? row.expires_at : expiresAt;
      if (ctx.dryRun) return updatePlan(row, wanted);
      const updated = { ...row, capabilities, projects, expires_at: expires };
      update(ctx.actor, row, updated);
      authenticator.forget(id);
      deps.onRevoked(id);
      return view(updated);
    },
    revokeToken: (ctx, id) => {
      requireCapability(ctx.actor, 'admin');
      const row = requireRow(ctx, id);
      if (ctx.dryRun) return revocationPlan(row);
      const revokedAt = row.revoked_at ?? revoke(ctx.actor, row);
      authenticator.forget(id);
      deps.onRevoked(id);
      return { ...view(row), revoked_at: isoTime(revokedAt) };
    },
    bootstrap: () => {
      if (store.count() > 0) return undefined;
      const wanted: CreateToken = { principal: 'admin', capabilities: ['admin'], projects: ['*'] };
      return mint(SYSTEM_ACTOR, wanted, null).secret;
    },
    stop: () => authenticator.flush(),
  };
};

/** What changes tokens on record, each with its events in one transaction. */
const createChanges = ({ db, clock, newId, emit }: TokensDeps, store: TokenStore) => {
  const emitFor = (row: TokenRow, kind: TokenEvent['kind'], actor: Actor): void => {
    const data = { token: row.id, principal: row.principal, capabilities: row.capabilities };
    for (const project of row.projects) emit({ project, kind, actor: actor.principal, data });
  };
  return {
    mint: (issuer: Actor, wanted: CreateToken, expiresAt: number | null): { row: TokenRow; secret: string } => {
      const id = newId('tok');
      const secret = newSecret(id);
      const row: TokenRow = {
        id,
        principal: wanted.principal,
        secret_hash: hashSecret(secret),
        capabilities: wanted.capabilities,
        projects: wanted.projects,
        created_at: clock.now(),
        created_by: issuer.principal,
        last_used_at: null,
        expires_at: expiresAt,
        revoked_at: null,
      };
      db.transaction(() => {
        store.insert(row);
        emitFor(row, 'token.created', issuer);
      }).immediate();
      return { row, secret };
    },
    update: (actor: Actor, before: TokenRow, row: TokenRow): void => {
      db.transaction(() => {
        if (!isLastingAdmin(row)) requireAnotherAdmin(store.lastingAdmins(), row.id);
        store.update(row.id, row);
        const projects = [...new Set([...before.projects, ...row.projects])];
        emitFor({ ...row, projects }, 'token.updated', actor);
      }).immediate();
    },
    revoke: (actor: Actor, row: TokenRow): number => {
      const now = clock.now();
      db.transaction(() => {
        requireAnotherAdmin(store.lastingAdmins(), row.id);
        store.revoke(row.id, now);
        emitFor(row, 'token.revoked', actor);
      }).immediate();
      return now;
    },
  };
};

const isLastingAdmin = (row: TokenRow): boolean =>
  row.capabilities.includes('admin') && row.projects.includes('*') && row.expires_at === null;

const updatePlan = ({ id, capabilities, projects, expires_at: expires }: TokenRow, wanted: UpdateToken): DryRun =>
  dryRun(`change ${Object.keys(wanted).join(', ')} of token ${id}`, [
    {
      action: 'update',
      resource: 'token',
      name: id,
      from: { capabilities, projects, expires_at: expires === null ? null : isoTime(expires) },
      to: wanted,
    },
  ]);

const mintingPlan = ({ principal, capabilities, projects }: CreateToken): DryRun =>
  dryRun(`create a token for ${principal}`, [
    { action: 'create', resource: 'token', name: principal, capabilities, projects },
  ]);

/** Without one nobody could ever administer this server again. */
const requireAnotherAdmin = (admins: readonly string[], id: string): void => {
  if (admins.length === 1 && admins[0] === id) {
    throw conflict(
      'this is the last admin token without an expiry',
      'create another with POST /v1/tokens {"principal":"…","capabilities":["admin"],"projects":["*"]}, then revoke this one with it',
    );
  }
};

const revocationPlan = (row: TokenRow): DryRun =>
  dryRun(
    row.revoked_at === null ? `revoke token ${row.id} of ${row.principal}` : `token ${row.id} is revoked already`,
    row.revoked_at === null ? [{ action: 'delete', resource: 'token', name: row.id }] : [],
  );

const tokenView = (row: TokenRow, lastUsedAt: number | null): Token => ({
  id: row.id,
  principal: row.principal,
  capabilities: row.capabilities,
  projects: row.projects,
  created_at: isoTime(row.created_at),
  created_by: row.created_by,
  last_used_at: lastUsedAt === null ? null : isoTime(lastUsedAt),
  expires_at: row.expires_at === null ? null : isoTime(row.expires_at),
});
