import type { ErrorCode } from '#kernel/errors';
import type { Capability } from '#kernel/scope';

export interface RouteSpec {
  operationId: string;
  /** What the token must hold; `any`: every valid token; `public`: no token at all. */
  capability: Capability | 'any' | 'public';
  summary: string;
  description?: string;
  tag: string;
  /** Codes of this operation besides those that its shape implies (see `src/modules/system/openapi`). */
  errors?: readonly ErrorCode[];
  /** Accepts `dry_run=true`. Elsewhere the parameter is INVALID_INPUT. */
  dryRun?: boolean;
  /** Accepts `Idempotency-Key`. By default every POST, PUT, PATCH and DELETE does. */
  idempotent?: boolean;
  /** Needs `confirm=true`, unless it is a dry run. */
  confirm?: boolean;
  /** Reads `request.body` itself, beyond the limit of JSON bodies; give the route `parse: 'none'` too. */
  upload?: boolean;
  /** Replies with server-sent events. */
  stream?: boolean;
  /** Is there for people with a browser or for programs of other protocols, and no part of the API's document. */
  page?: boolean;
  /** Takes the token as the password of HTTP Basic too, and fails as plain text: for git. */
  basic?: boolean;
  /** Is for programs, and takes no cookie of a browser. */
  bearerOnly?: boolean;
  /** Takes any query, which a page in the browser reads. */
  anyQuery?: boolean;
}

/** The part of a route's `detail` that the guard and the OpenAPI document read. */
export interface RouteMeta {
  capability: RouteSpec['capability'];
  errors: readonly ErrorCode[];
  dryRun: boolean;
  idempotent: boolean | undefined;
  confirm: boolean;
  upload: boolean;
  stream: boolean;
  basic: boolean;
  bearerOnly: boolean;
  anyQuery: boolean;
}

/**
 * Declares who may call a route and how; spread it into the route's hook. The guard refuses to start with a route that
 * lacks it. The project that a route belongs to is its `:project` path parameter. `dry_run`, `confirm` and
 * `last_event_id` need no `query` schema; other query parameters are known by their schema, unknown ones refused.
 */
export const route = (spec: RouteSpec) => ({
  detail: {
    operationId: spec.operationId,
    tags: [spec.tag],
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    ...(spec.page === true ? { hide: true } : {}),
    'x-berth': {
      capability: spec.capability,
      errors: spec.errors ?? [],
      dryRun: spec.dryRun ?? false,
      idempotent: spec.idempotent,
      confirm: spec.confirm ?? false,
      upload: spec.upload ?? false,
      stream: spec.stream ?? false,
      basic: spec.basic ?? false,
      bearerOnly: spec.bearerOnly ?? false,
      anyQuery: spec.anyQuery ?? false,
    } satisfies RouteMeta,
  },
});
