import { Elysia } from 'elysia';
import { readJson } from './body.ts';
import { stateOf } from './context.ts';
import { createOnError } from './failures.ts';
import type { Guard, GuardContext } from './guard.ts';
import type { Idempotency } from './idempotency.ts';

export interface FrameDeps {
  guard: Guard;
  idempotency: Idempotency;
  /** Logs a fault of berth's own. */
  onFault: (message: string, thrown: unknown, requestId: string) => void;
}

/**
 * The frame that all routes are hung into: guard on request, bounded JSON bodies, idempotency, one error shape. Its
 * callbacks name what they use of the context, because Elysia prepares only that.
 */
export const createFrame = ({ guard, idempotency, onFault }: FrameDeps) => {
  const onError = createOnError(onFault);
  // Elysia gives `path` to this hook, but does not say so in its types. What is thrown here would lose its body.
  const onRequest = ({ request, path, set }: GuardContext) => {
    try {
      return guard.onRequest({ request, path, set });
    } catch (error) {
      return onError({ error, request, set });
    }
  };
  return new Elysia({ normalize: false, strictPath: true, handler: { standardHostname: false } })
    .onRequest(onRequest as never)
    .onError({ as: 'global' }, ({ error, request, set }) => onError({ error, request, set }))
    .onParse({ as: 'global' }, async ({ request }) => {
      const state = stateOf(request);
      if (state.entry.meta.upload) return null;
      const body = await readJson(request);
      if (body === undefined) return null;
      state.bodyDigest = body.digest;
      return body.value;
    })
    .onBeforeHandle({ as: 'global' }, ({ request, set }) => {
      const reply = idempotency.begin(request);
      if (reply === undefined) return undefined;
      set.status = reply.status;
      set.headers['idempotency-replayed'] = 'true';
      return new Response(reply.body, { status: reply.status, headers: { 'content-type': 'application/json' } });
    })
    .mapResponse({ as: 'global' }, ({ request, responseValue, set }) => {
      idempotency.finish(request, Number(set.status ?? 200), responseValue);
    });
};

interface TunedHooks {
  parse?: unknown;
  beforeHandle?: unknown;
  mapResponse?: unknown;
  response?: unknown;
  query?: unknown;
}

/**
 * Adjusts the assembled routes before Elysia compiles them, which it does on first use: reads need no body and no
 * idempotency, replies are checked in tests only, and unknown query parameters are the guard's to refuse.
 */
export const tuneRoutes = (
  routes: readonly { method: string; hooks: TunedHooks }[],
  options: { checkReplies: boolean },
): void => {
  for (const { method, hooks } of routes) {
    if (method === 'GET') {
      delete hooks.parse;
      delete hooks.beforeHandle;
      delete hooks.mapResponse;
    }
    if (!options.checkReplies) delete hooks.response;
    // In place, because Elysia has copied the hooks' references by now.
    if (typeof hooks.query === 'object' && hooks.query !== null) {
      Object.assign(hooks.query, { additionalProperties: true });
    }
  }
};
