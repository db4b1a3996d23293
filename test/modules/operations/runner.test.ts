import { beforeEach, describe, expect, test } from 'bun:test';
import { systemClock } from '#kernel/clock';
import { DEFAULT_CONFIG } from '#kernel/config';
import { systemCtx } from '#kernel/ctx';
import { openDatabase } from '#kernel/database';
import { conflict } from '#kernel/errors';
import { createIds } from '#kernel/ids';
import { createLog } from '#kernel/log';
import {
  createJournal,
  createOperations,
  createOperationStore,
  createRunner,
  type Operation,
  type Operations,
  type OperationStore,
  type Outcome,
  type Run,
  type Runner,
} from '#modules/operations';

const ctx = systemCtx('req_1');
const healthy: Outcome = { phase: 'healthy', error: null, result: { fine: true } };

interface Held {
  run: Run;
  finish: (outcome?: Outcome) => void;
}

let store: OperationStore;
let operations: Operations;
let runner: Runner;
let held: Map<string, Held>;
let order: string[];
let failToFinish: number;
const db = () => openDatabase(':memory:');
const quiet = createLog('error', () => undefined, Date.now);

const boot = (database: ReturnType<typeof db>): void => {
  held = new Map();
  order = [];
  failToFinish = 0;
  store = createOperationStore(database);
  const flaky: OperationStore = {
    ...store,
    finish: (id, end) => {
      if (failToFinish > 0) {
        failToFinish -= 1;
        throw new Error('disk full');
      }
      store.finish(id, end);
    },
  };
  const clock = { ...systemClock, sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(1, signal) };
  const journal = createJournal(store, clock, quiet);
  const execute = (run: Run): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      order.push(run.id);
      held.set(run.id, { run, finish: (outcome = healthy) => resolve(outcome) });
      run.signal.addEventListener('abort', () => reject(run.signal.reason as Error));
    });
  runner = createRunner({
    store: flaky,
    journal,
    clock,
    log: quiet,
    execute,
    onFinished: () => undefined,
  });
  operations = createOperations({
    store,
    journal,
    clock,
    newId: createIds(Date.now),
    config: DEFAULT_CONFIG,
    wake: (id, reason) => runner.wake(id, reason),
  });
};

const enqueue = (project: string, service: string | null): Operation =>
  operations.enqueue(ctx, {
    kind: service === null ? 'project.delete' : 'deploy',
    project,
    service,
    input: { archive: '/none' },
  });

const until = async (condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + 2000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('it did not come to pass within 2 s');
    await Bun.sleep(1);
  }
};

const statusOf = (operation: Operation): string | undefined => operations.get(operation.operation_id)?.status;

const finish = async (operation: Operation): Promise<void> => {
  await until(() => held.has(operation.operation_id));
  held.get(operation.operation_id)?.finish();
  await until(() => statusOf(operation) === 'succeeded');
};

beforeEach(() => {
  boot(db());
  runner.resume();
});

describe('the order of operations', () => {
  test('those of one service go one after the other, those of two side by side', async () => {
    const first = enqueue('shop', 'web');
    const second = enqueue('shop', 'web');
    const other = enqueue('shop', 'api');
    await until(() => order.length === 2);
    expect(order).toEqual([first.operation_id, other.operation_id]);
    await finish(first);
    await until(() => order.includes(second.operation_id));
    await finish(second);
    await finish(other);
  });

  test('one on the whole project waits for its services, and holds back what comes later', async () => {
    const before = enqueue('shop', 'web');
    const whole = enqueue('shop', null);
    const after = enqueue('shop', 'api');
    const elsewhere = enqueue('blog', 'web');
    await until(() => order.length === 2);
    expect(order).toEqual([before.operation_id, elsewhere.operation_id]);
    await finish(before);
    await until(() => order.includes(whole.operation_id));
    expect(order).not.toContain(after.operation_id);
    await finish(whole);
    await finish(after);
    await finish(elsewhere);
  });

  test('nothing runs before the server has resumed', async () => {
    boot(db());
    const early = enqueue('shop', 'web');
    await Bun.sleep(10);
    expect(order).toEqual([]);
    runner.resume();
    await finish(early);
  });
});

describe('cancel', () => {
  test('ends a running operation as failed with CONFLICT', async () => {
    const operation = enqueue('shop', 'web');
    await until(() => held.has(operation.operation_id));
    operations.cancel(ctx, operation.operation_id);
    await until(() => statusOf(operation) === 'failed');
    expect(operations.get(operation.operation_id)?.error?.code).toBe('CONFLICT');
  });

  test('ends a waiting one at once, which never runs', async () => {
    const running = enqueue('shop', 'web');
    const waiting = enqueue('shop', 'web');
    await until(() => held.has(running.operation_id));
    operations.cancel(ctx, waiting.operation_id);
    expect(statusOf(waiting)).toBe('failed');
    await finish(running);
    expect(order).not.toContain(waiting.operation_id);
    expect(() => operations.cancel(ctx, waiting.operation_id)).toThrow('failed already');
  });
});

test('an operation that waits and is superseded never runs, and says by which', async () => {
  const running = enqueue('shop', 'web');
  const waiting = enqueue('shop', 'web');
  await until(() => held.has(running.operation_id));
  operations.supersede(waiting.operation_id, 'op_newer', 'a newer push to main');
  expect(operations.get(waiting.operation_id)).toMatchObject({
    status: 'failed',
    error: { code: 'CONFLICT', message: 'superseded by op_newer: a newer push to main' },
  });
  await finish(running);
  expect(order).not.toContain(waiting.operation_id);
});

describe('a stop of the server', () => {
  test('leaves what runs open, and the next start takes it up again with its checkpoint', async () => {
    const database = db();
    boot(database);
    runner.resume();
    const operation = enqueue('shop', 'web');
    await until(() => held.has(operation.operation_id));
    held.get(operation.operation_id)?.run.saveCheckpoint({ release: 'rel_1', committed: false });
    await runner.stop();
    expect(statusOf(operation)).toBe('running');
    boot(database);
    runner.resume();
    await until(() => held.has(operation.operation_id));
    expect(held.get(operation.operation_id)?.run).toMatchObject({
      attempt: 2,
      checkpoint: { release: 'rel_1', committed: false },
    });
    await finish(operation);
  });

  test('again and again ends the operation as failed, retryable', async () => {
    const database = db();
    boot(database);
    runner.resume();
    const operation = enqueue('shop', 'web');
    for (let n = 0; n < 3; n += 1) {
      await until(() => held.has(operation.operation_id));
      await runner.stop();
      boot(database);
      runner.resume();
    }
    await until(() => statusOf(operation) === 'failed');
    expect(operations.get(operation.operation_id)?.error).toMatchObject({ code: 'INTERNAL_ERROR', retryable: true });
  });
});

test('the end of a canceled operation that cannot be written waits between its tries, and lets berth stop', async () => {
  const operation = enqueue('shop', 'web');
  await until(() => held.has(operation.operation_id));
  failToFinish = Number.POSITIVE_INFINITY;
  operations.cancel(ctx, operation.operation_id);
  const begun = performance.now();
  // A loop without a pause would never let this timer fire.
  await Bun.sleep(20);
  expect(performance.now() - begun).toBeLessThan(1000);
  await runner.stop();
  expect(statusOf(operation)).toBe('running');
  const phases = operations.eventsAfter(operation.operation_id, 0).filter((event) => event.kind === 'phase');
  expect(phases.map((event) => event.data.phase)).toEqual(['queued', 'failed']);
});

test('an end that cannot be written is tried again until it is', async () => {
  failToFinish = 3;
  const operation = enqueue('shop', 'web');
  await until(() => held.has(operation.operation_id));
  held.get(operation.operation_id)?.finish();
  await until(() => statusOf(operation) === 'succeeded');
  expect(order).toEqual([operation.operation_id]);
});

test('an outcome with an error ends the operation as failed, in the phase of the outcome', async () => {
  const operation = enqueue('shop', 'web');
  await until(() => held.has(operation.operation_id));
  held.get(operation.operation_id)?.finish({ phase: 'rolled_back', error: conflict('no', 'yes'), result: null });
  await until(() => statusOf(operation) === 'failed');
  expect(operations.get(operation.operation_id)).toMatchObject({
    phase: 'rolled_back',
    error: { code: 'CONFLICT', message: 'no', hint: 'yes' },
  });
});
