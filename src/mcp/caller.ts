import { SdkError, type ServerContext } from '@modelcontextprotocol/server';
import { createApi, type Api } from '#cli/client/api';
import type { HttpOptions } from '#cli/client/http';
import { VERSION } from '#cli/version';
import { systemClock } from '#kernel/clock';
import { createProgress } from './progress.ts';
import type { Call, Surface } from './tool.ts';

/** Who calls tools, and by which way the API is reached. */
export interface Caller {
  surface: Surface;
  endpoint: string;
  token: string | undefined;
  /** Certificates of a private authority, PEM. */
  ca?: string | undefined;
  headers?: Readonly<Record<string, string>>;
  fetch?: HttpOptions['fetch'];
  /** Ends what waits: the token was revoked, or the server stops. */
  ended: AbortSignal;
  /** Told of each call, with what cancels it when the client says so elsewhere; returns how to take it back. */
  enlist: (id: string | number, cancel: (reason: unknown) => void) => () => void;
  /** Whether the end of a connection means that its calls are cancelled, as in protocol 2026-07-28 over HTTP. */
  endsWithConnection: () => boolean;
  note: (text: string) => void;
  cwd: string;
}

export const apiOf = (caller: Caller, signal: AbortSignal, dryRun = false): Api =>
  createApi({
    endpoint: caller.endpoint,
    token: caller.token,
    ca: caller.ca,
    userAgent: `berth-mcp/${VERSION}`,
    signal,
    dryRun,
    sleep: systemClock.sleep,
    onRetry: ({ body }) => caller.note(`${body.message}; trying again`),
    ...(caller.headers === undefined ? {} : { headers: caller.headers }),
    ...(caller.fetch === undefined ? {} : { fetch: caller.fetch }),
  });

/** Makes one call out of a request of the protocol, and runs it. */
export const withCall = async <T>(
  caller: Caller,
  context: ServerContext,
  run: (call: (dryRun: boolean) => Call) => Promise<T>,
): Promise<T> => {
  const stopped = new AbortController();
  const leave = caller.enlist(context.mcpReq.id, (reason) => stopped.abort(reason));
  const requested = AbortSignal.any([context.mcpReq.signal, stopped.signal]);
  const signal = AbortSignal.any([requested, caller.ended]);
  const progress = createProgress(context, (thrown) => caller.note(`progress was not sent: ${String(thrown)}`));
  try {
    return await run((dryRun) => ({
      api: apiOf(caller, signal, dryRun),
      apiFor: (other) => apiOf(caller, other),
      signal,
      cancelled: () => requested.aborted && isCancelled(requested, caller),
      progress,
      note: caller.note,
      cwd: caller.cwd,
    }));
  } finally {
    leave();
  }
};

/**
 * The SDK aborts with the text of notifications/cancelled, or with an error when the connection ended. A client whose own
 * time ran out cancels too, in the same words in all SDKs: its work goes on, and can be asked for.
 */
const isCancelled = ({ reason }: AbortSignal, caller: Caller): boolean => {
  if (caller.ended.aborted) return false;
  if (SdkError.isInstance(reason)) return caller.endsWithConnection();
  return !/timed? ?out/i.test(String(reason));
};
