import { Type, type Static } from '@sinclair/typebox';
import type { OperationStreamData } from '#cli/client/api';
import type { StreamEvent } from '#cli/client/stream';
import { CliFailure } from '#cli/failure';
import { messageOf } from '#kernel/errors';
import { plainText } from '#kernel/terminal';
import { OperationSchema, type Accepted, type Operation } from '#modules/operations';
import type { Call, Reply } from './tool.ts';

/** What tools say about an operation: its row, and what comes next. */
export const OutcomeSchema = Type.Composite([
  Type.Partial(Type.Omit(OperationSchema, ['operation_id'])),
  Type.Object({
    operation_id: Type.Union([OperationSchema.properties.operation_id, Type.Null()], {
      description: 'null: nothing had to change',
    }),
    log: Type.Optional(Type.Array(Type.String(), { description: 'last lines of the log, oldest first' })),
    next: Type.Optional(Type.String({ description: 'what to do now' })),
  }),
]);

export const WAIT_LIMIT = 3600;

export const WaitSeconds = (seconds: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: WAIT_LIMIT,
      description: `wait at most so long for the end, then return the operation as it is; ${seconds} when omitted`,
    }),
  );

export interface Waiting {
  seconds: number;
  /** Whether cancelling the call cancels the operation too. */
  cancels?: boolean;
  /** Last lines of the log to return. */
  lines?: number;
}

const STEPS: Record<string, number> = { queued: 0, building: 1, pushing: 2, rolling_out: 3, healthy: 5, ready: 5 };
const MIDDLE = 2;
const HEARTBEAT_MS = 5000;
const LINE_LENGTH = 500;

/** Follows an operation until it ends or the time is over, telling of its phases, and replies with how it stands then. */
export const followOperation = async (
  call: Call,
  { operation_id: id }: Pick<Accepted, 'operation_id'>,
  waiting: Waiting,
): Promise<Reply> => {
  const timer = AbortSignal.timeout(waiting.seconds * 1000);
  const log = createLog(waiting.lines ?? 0);
  const api = call.apiFor(AbortSignal.any([call.signal, timer]));
  const beat = setInterval(() => call.progress.report(log.last()), HEARTBEAT_MS);
  try {
    for await (const event of api.followOperation(id, () => undefined)) show(call, log, event);
  } catch (thrown) {
    if (call.signal.aborted) {
      await onAborted(call, id, waiting.cancels === true);
      throw thrown;
    }
    if (isForbidden(thrown)) return unseen(id, thrown);
    if (!timer.aborted) throw thrown;
  } finally {
    clearInterval(beat);
  }
  return outcome(await call.api.getOperation(id), log.lines);
};

/** An operation as a reply; one that failed is an error, which carries its error object. */
export const outcome = (operation: Operation, log: readonly string[]): Reply => {
  const next = nextOf(operation);
  return {
    failed: operation.status === 'failed',
    data: { ...operation, ...(log.length === 0 ? {} : { log: [...log] }), ...(next === undefined ? {} : { next }) },
  };
};

const nextOf = ({ status, operation_id: id, kind }: Operation): string | undefined => {
  if (status === 'failed')
    return kind === 'deploy' ? 'do what error.hint says, then deploy again' : 'do what error.hint says';
  if (status === 'succeeded') return undefined;
  return `it goes on: call service_operation with operation_id ${id} to wait for its end`;
};

const show = (call: Call, log: Log, { event, data }: StreamEvent<OperationStreamData>): void => {
  if (event === 'log') log.add(plainText(data.line ?? ''));
  if (event === 'phase')
    call.progress.report(`${data.phase}: ${data.message ?? ''}`, STEPS[data.phase ?? ''] ?? MIDDLE);
};

interface Log {
  lines: string[];
  add(line: string): void;
  last(): string;
}

const createLog = (keep: number): Log => {
  const lines: string[] = [];
  let last = 'waiting';
  return {
    lines,
    add: (line) => {
      last = line.slice(0, LINE_LENGTH);
      if (keep === 0) return;
      lines.push(last);
      if (lines.length > keep) lines.shift();
    },
    last: () => last,
  };
};

/** Whoever cancels the call means the work; a client that went away, or waited long enough, leaves it running. */
const onAborted = async (call: Call, id: string, cancels: boolean): Promise<void> => {
  if (!cancels || !call.cancelled()) {
    call.note(`${id} goes on; nobody waits for it any more`);
    return;
  }
  try {
    await call.apiFor(AbortSignal.timeout(10_000)).cancelOperation(id);
    call.note(`${id} is cancelled, because its call was`);
  } catch (thrown) {
    call.note(`${id} could not be cancelled: ${messageOf(thrown)}`);
  }
};

const isForbidden = (thrown: unknown): thrown is CliFailure =>
  thrown instanceof CliFailure && thrown.body.code === 'CAPABILITY_MISSING';

/** The work has begun, but this token may not look at it. */
const unseen = (id: string, { body }: CliFailure): Reply => ({
  data: {
    operation_id: id,
    status: 'running',
    next: `accepted, but it cannot be followed: ${body.message}`,
  } satisfies Static<typeof OutcomeSchema>,
});

/** The reply to a change that needs no operation. */
export const unchanged = (serviceUrl: string | null): Reply => ({
  data: { operation_id: null, status: 'succeeded', service_url: serviceUrl, next: 'nothing had to change' },
});

/** Waits when the reply of the API is an operation. */
export const settle = (
  call: Call,
  reply: Partial<Accepted> & { service_url?: string | null },
  seconds: number,
): Promise<Reply> | Reply =>
  reply.operation_id === undefined
    ? unchanged(reply.service_url ?? null)
    : followOperation(call, { operation_id: reply.operation_id }, { seconds });
