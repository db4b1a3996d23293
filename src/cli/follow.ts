import type { Accepted, Operation } from '#modules/operations';
import type { Api, OperationStreamData } from './client/api.ts';
import type { StreamEvent } from './client/stream.ts';
import type { Context } from './context.ts';
import { CliFailure, interrupted } from './failure.ts';
import { duration } from './output/format.ts';
import type { Out } from './output/out.ts';
import { inert } from './output/style.ts';

export interface FollowOptions {
  /** Whether log lines are shown; phases always are. */
  logs: boolean;
}

/**
 * Follows an operation to its end and returns its row. A failed one is thrown as the error it ended with. Ctrl-C leaves it running on
 * the server, and says how to come back to it.
 */
export const followOperation = async (context: Context, id: string, options: FollowOptions): Promise<Operation> => {
  const api = await context.api();
  const { out } = context;
  try {
    const show = createPhases(out);
    const lost = (cause: string): void => out.note(out.noteStyle.dim(`${cause}; resuming the stream`));
    for await (const event of api.followOperation(id, lost)) {
      if (out.json) {
        if (options.logs || event.event !== 'log') out.jsonLine({ event: event.event, ...event.data });
      } else show(event, options.logs);
    }
    return await finished(api, id, out);
  } catch (thrown) {
    if (context.io.signal.aborted) throw stillRunning(id);
    throw thrown;
  }
};

const finished = async (api: Api, id: string, out: Out): Promise<Operation> => {
  const operation = await api.getOperation(id);
  if (out.json) out.jsonLine(operation);
  if (operation.status !== 'failed') return operation;
  throw new CliFailure(
    operation.error ?? {
      code: 'INTERNAL_ERROR',
      message: `operation ${id} failed without saying why`,
      hint: 'look at the server log',
      retryable: false,
    },
  );
};

const stillRunning = (id: string): CliFailure =>
  interrupted(
    `stopped following; ${id} goes on on the server`,
    `follow it: berth operations follow ${id} · cancel it: berth operations cancel ${id}`,
  );

/** Shows phases and log lines as they come, each phase with the time since the one before. */
const createPhases = (out: Out): ((event: StreamEvent<OperationStreamData>, logs: boolean) => void) => {
  const { noteStyle: style } = out;
  let since = performance.now();
  return ({ event, data }, logs) => {
    if (event === 'log' && logs)
      out.note(`${style.dim(`${(data.source ?? '').padEnd(7)} │`)} ${inert(data.line ?? '', style.enabled)}`);
    if (event !== 'phase') return;
    const took = duration(performance.now() - since);
    since = performance.now();
    out.note(
      `${mark(data.phase ?? '', out)} ${style.bold(data.phase ?? '')} ${inert(data.message ?? '', false)} ${style.dim(`+${took}`)}`,
    );
  };
};

const mark = (phase: string, { noteStyle: style }: Out): string => {
  if (phase === 'healthy' || phase === 'ready') return style.green('✔');
  return phase === 'failed' || phase === 'rolled_back' ? style.red('✘') : style.cyan('●');
};

/** What every command does with a 202: prints it at once with `--detach`, else follows to the end and says `done`. */
export const settle = async (
  context: Context,
  accepted: Accepted,
  options: FollowOptions & { detach: boolean; done: (operation: Operation) => string },
): Promise<void> => {
  const { out } = context;
  if (options.detach) {
    out.data(accepted, () => accepted.operation_id);
    out.note(`follow it: berth operations follow ${accepted.operation_id}`);
    return;
  }
  if (out.json) out.jsonLine(accepted);
  const operation = await followOperation(context, accepted.operation_id, options);
  if (!out.json) out.raw(options.done(operation));
};

/** For mutations that are long only sometimes: follows when the reply is an operation, else prints it. */
export const settleReply = async (
  context: Context,
  reply: Partial<Accepted>,
  options: { detach: boolean; done: string },
): Promise<void> => {
  const { operation_id: id, stream_url: stream, service_url: url } = reply;
  if (id === undefined || stream === undefined) {
    context.out.data(reply, () => options.done);
    return;
  }
  await settle(
    context,
    { operation_id: id, stream_url: stream, service_url: url ?? null },
    { detach: options.detach, logs: true, done: () => options.done },
  );
};
