import type { ErrorBody } from '#kernel/errors';
import { plainText } from '#kernel/terminal';
import type { Accepted, OperationEvent, Operations } from '#modules/operations';

/**
 * An operation as lines for people who wait for it: phases, its log, and how it ended. Ends early when nobody listens any
 * more; the operation goes on.
 */
export async function* followLines(
  operations: Operations,
  { operation_id: id, service_url: url }: Accepted,
  listening: AbortSignal,
): AsyncGenerator<string> {
  let seen = 0;
  for (;;) {
    if (listening.aborted) return;
    const more = nextEvent(operations, id, listening);
    const events = operations.eventsAfter(id, seen);
    for (const event of events) {
      seen = event.seq;
      yield* linesOf(event, url);
      if (event.kind === 'done') {
        more.cancel();
        return;
      }
    }
    if (events.length > 0) more.cancel();
    else await more.arrived;
  }
}

/** Subscribes before the events so far are read: none is missed between. */
const nextEvent = (
  operations: Operations,
  id: string,
  listening: AbortSignal,
): { arrived: Promise<void>; cancel: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const leave = operations.subscribe(id, () => done());
  const done = (): void => {
    leave();
    listening.removeEventListener('abort', done);
    resolve();
  };
  listening.addEventListener('abort', done, { once: true });
  return { arrived: promise, cancel: done };
};

function* linesOf(event: OperationEvent, url: string | null): Generator<string> {
  if (event.kind === 'log') yield `  ${plainText(event.data.line)}`;
  else if (event.kind === 'phase') yield* phaseLine(event.data);
  else if (event.data.error === null) yield `live at ${url ?? 'its address'}`;
  else yield* failureLines(event.data.error);
}

/** Of a failure, the error says more. */
function* phaseLine({ phase, message }: Extract<OperationEvent, { kind: 'phase' }>['data']): Generator<string> {
  if (phase !== 'failed') yield `${phase}: ${message}`;
}

/** An error with its next step, and the end of the log that explains it. */
export function* failureLines(error: ErrorBody): Generator<string> {
  for (const line of error.log_tail?.trimEnd().split('\n') ?? []) yield `  | ${plainText(line)}`;
  yield `${error.code}: ${error.message}`;
  yield `hint: ${error.hint}`;
}
