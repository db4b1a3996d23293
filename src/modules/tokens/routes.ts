import { Type } from '@sinclair/typebox';
import { Elysia, status } from 'elysia';
import { ctxOf } from '#http/context';
import { ListQuery, listReply, pageOf } from '#http/list';
import { route } from '#http/route';
import { isoTime } from '#kernel/clock';
import type { Actor } from '#kernel/ctx';
import { DryRunSchema, listOf, type DryRun } from '#kernel/schema';
import {
  CreateTokenBody,
  CreateTokenReply,
  RevokeTokenReply,
  TokenSchema,
  UpdateTokenBody,
  WhoamiReply,
  type CreatedToken,
  type Whoami,
} from './model.ts';
import type { Tokens } from './service.ts';

const TokenPath = Type.Object({
  id: Type.String({
    pattern: '^tok_[0-9a-z]{20}$',
    description: 'id of a token, tok_…',
    examples: ['tok_01jd3kq2m5abcdefghjk'],
  }),
});

export const tokensRoutes = ({ tokens }: { tokens: Tokens }) =>
  new Elysia()
    .get('/v1/whoami', ({ request }) => whoami(ctxOf(request).actor), {
      response: { 200: WhoamiReply },
      ...route({
        operationId: 'whoami',
        capability: 'any',
        tag: 'tokens',
        summary: 'Show what the token of this request may do, and where',
      }),
    })
    .post('/v1/tokens', ({ request, body }) => createdOr(tokens.createToken(ctxOf(request), body)), {
      body: CreateTokenBody,
      response: { 200: DryRunSchema, 201: CreateTokenReply },
      ...route({
        operationId: 'createToken',
        capability: 'manage_tokens',
        tag: 'tokens',
        summary: 'Mint a scoped token; its secret is returned exactly once',
        description:
          'Never beyond the issuer: only capabilities and projects that it has itself, and no later expiry. Every call makes a new token; with an `Idempotency-Key` a repetition is a CONFLICT that names the token, because the secret is not kept.',
        errors: ['NOT_FOUND', 'CONFLICT'],
        dryRun: true,
      }),
    })
    .get(
      '/v1/tokens',
      ({ request, query }) => {
        const page = pageOf(query);
        return listReply('tokens', tokens.listTokens(ctxOf(request), page), (token) => token.id, page);
      },
      {
        query: ListQuery,
        response: { 200: listOf('tokens', TokenSchema) },
        ...route({
          operationId: 'listTokens',
          capability: 'admin',
          tag: 'tokens',
          summary: 'List tokens, newest first',
        }),
      },
    )
    .patch('/v1/tokens/:id', ({ request, params, body }) => tokens.updateToken(ctxOf(request), params.id, body), {
      params: TokenPath,
      body: UpdateTokenBody,
      response: { 200: Type.Union([TokenSchema, DryRunSchema]) },
      ...route({
        operationId: 'updateToken',
        capability: 'admin',
        tag: 'tokens',
        summary: 'Change what a token may do, where, or how long; at once, its open streams end',
        description: 'Never beyond the caller, as when minting. The secret stays the same.',
        errors: ['NOT_FOUND', 'CONFLICT'],
        dryRun: true,
      }),
    })
    .delete('/v1/tokens/:id', ({ request, params }) => tokens.revokeToken(ctxOf(request), params.id), {
      params: TokenPath,
      response: { 200: Type.Union([RevokeTokenReply, DryRunSchema]) },
      ...route({
        operationId: 'revokeToken',
        capability: 'admin',
        tag: 'tokens',
        summary: 'Revoke a token, at once, with its open streams',
        errors: ['NOT_FOUND', 'CONFLICT'],
        dryRun: true,
      }),
    });

const createdOr = (reply: CreatedToken | DryRun) => ('secret' in reply ? status(201, reply) : reply);

const whoami = ({ tokenId, principal, capabilities, projects, expiresAt }: Actor): Whoami => ({
  token_id: tokenId,
  principal,
  capabilities: [...capabilities],
  projects: [...projects],
  expires_at: expiresAt === null ? null : isoTime(expiresAt),
});
