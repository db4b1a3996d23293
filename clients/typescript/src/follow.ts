import { readEvents, type StreamEvent } from './events.ts';
import { pause, type Send } from './http.ts';
import { failed, interrupted, unreachable, type Failure, type Result } from './result.ts';

/** How an operation ended. */
export interface OperationEnd {
  operation_id: string;
  status: 'succeeded';
  /** Of a deploy: the release and where it is live. */
  result: Record<string, unknown>;
}

export interface FollowOptions {
  /** Told of each `log` and `phase` as it happens. */
  onEvent?: (event: StreamEvent) => void;
  /** Stops waiting; the operation goes on. */
  signal?: AbortSignal;
}

/** Waits for the end of an operation. One that failed is an error, with the reason that the server gives. */
export type Follow = (operationId: string, options?: FollowOptions) => Promise<Result<OperationEnd>>;

/** Connections that may end, one after the other, without having brought anything. */
const FRUITLESS = 10;

export const followOperation = async (
  send: Send,
  id: string,
  { onEvent, signal }: FollowOptions,
): Promise<Result<OperationEnd>> => {
  const stopped = (): boolean => signal?.aborted === true;
  let last = '';
  let lost: unknown = new Error('the stream ended');
  for (let fruitless = 0; fruitless < FRUITLESS; fruitless += 1) {
    if (stopped()) return failed(interrupted());
    const sent = await send({
      method: 'GET',
      path: `/v1/operations/${encodeURIComponent(id)}/stream`,
      headers: { accept: 'text/event-stream', ...(last === '' ? {} : { 'last-event-id': last }) },
      ...(signal === undefined ? {} : { signal }),
    });
    if (!sent.ok && !sent.error.retryable) return sent;
    try {
      // A server that restarts is away for longer than one request is tried.
      if (!sent.ok) throw new Error(sent.error.message);
      if (sent.data.body === null) break;
      for await (const event of readEvents(sent.data.body)) {
        last = event.id || last;
        fruitless = -1;
        if (event.event === 'done') return ended(id, event.data);
        onEvent?.(event);
      }
    } catch (thrown) {
      if (stopped()) return failed(interrupted());
      lost = thrown;
    }
    await pause(Math.min(5000, 200 * 2 ** Math.max(0, fruitless)), signal);
  }
  return failed({
    ...unreachable('the stream of the operation', lost),
    hint: `it goes on: ask for /v1/operations/${id}`,
  });
};

const ended = (id: string, data: StreamEvent['data']): Result<OperationEnd> => {
  if (data['status'] === 'succeeded')
    return {
      ok: true,
      status: 200,
      data: { operation_id: id, status: 'succeeded', result: data['result'] as Record<string, unknown> },
    };
  return failed(data['error'] as Failure, 200);
};
