import type { Ctx } from '#kernel/ctx';
import { BerthError } from '#kernel/errors';
import type { SignedIn } from './authenticate.ts';
import type { RouteEntry } from './route-table.ts';
import type { Streams } from './streams.ts';

/** What the guard found out about a request. */
export interface RequestState {
  ctx: Ctx;
  entry: RouteEntry;
  /** The session whose cookie vouched for the request; undefined for one with a token of its own. */
  browser: SignedIn | undefined;
  /** SHA-256 of the JSON body, once it was read. */
  bodyDigest?: string;
  streams: Streams;
  /** Logs what failed after the reply had begun. */
  onFault: (message: string, thrown: unknown) => void;
}

/** Where the state hangs on its request: on the hot path a WeakMap would cost more than the rest of the guard's book-keeping. */
const STATE = Symbol('berth.state');
const BASIC = Symbol('berth.basic');
type Marked = Request & { [STATE]?: RequestState; [BASIC]?: true };

/** For the guard only. */
export const setState = (request: Request, state: RequestState): void => {
  (request as Marked)[STATE] = state;
};

/** Undefined for a request that the guard refused. */
export const findState = (request: Request): RequestState | undefined => (request as Marked)[STATE];

export const stateOf = (request: Request): RequestState => {
  const state = findState(request);
  if (state === undefined) {
    throw new BerthError('INTERNAL_ERROR', 'the request did not pass the guard', { hint: 'report it as a bug' });
  }
  return state;
};

/** Who asks, for which request, and whether anything may change. */
export const ctxOf = (request: Request): Ctx => stateOf(request).ctx;

/** For the guard only: whoever sent this takes challenges for HTTP Basic, and errors as text. */
export const markBasic = (request: Request): void => {
  (request as Marked)[BASIC] = true;
};

export const isBasic = (request: Request): boolean => (request as Marked)[BASIC] === true;
