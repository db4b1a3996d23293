import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type DatastoreInstance, JOB_INPUT, JOB_OUTPUT, type JobRequest, type Jobs } from '#engines/datastores/port';
import { createJobs, jobSpec } from '#engines/datastores/jobs';
import type { Runtime } from '#engines/runtime/port';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { createFakeRuntime } from '#test/fakes/runtime.ts';
import { describeInstance } from '#test/support/datastore.ts';
import { bash, IMAGE, openLab, quiet } from '#test/engines/runtime/support.ts';

// A busy machine may take its time.
setDefaultTimeout(60_000);

const lab = openLab();
const LABELS = { 'berth.test': 'job' };
const MEGABYTE = 1024 ** 2;
let instance: DatastoreInstance;
let taken: string[];
let bench: Jobs;

const jobsOn = (runtime: Runtime, log = quiet, clock = systemClock): Jobs => {
  let counter = 0;
  return createJobs({
    runtime,
    clock,
    log,
    labels: LABELS,
    pipesDir: join(lab.dir, 'pipes'),
    newName: () => String((counter += 1)),
    addresses: {
      reserve: ({ gateway }) => {
        const ip = gateway.replace(/\.1$/, `.${10 + taken.length}`);
        taken.push(ip);
        return ip;
      },
      release: (_, ip) => {
        taken = taken.filter((other) => other !== ip);
      },
    },
  });
};

beforeAll(async () => {
  taken = [];
  const { name, gateway } = await lab.addNetwork('j');
  instance = describeInstance({ kind: 'postgres', network: name, gateway, labels: { 'berth.test': 'owner' } });
  bench = jobsOn(lab.runtime);
});
afterAll(() => lab.cleanUp());

const request = (script: string, over: Partial<JobRequest> = {}): JobRequest => ({
  instance,
  purpose: 'try',
  image: IMAGE,
  argv: bash(script),
  env: {},
  memoryMb: 64,
  signal: AbortSignal.timeout(50_000),
  ...over,
});

const nothingLeft = async (): Promise<void> => {
  expect(await lab.runtime.list(LABELS)).toEqual([]);
  expect(taken).toEqual([]);
  expect(readdirSync(join(lab.dir, 'pipes'))).toEqual([]);
};

const bytes = async function* (count: number): AsyncGenerator<Uint8Array> {
  for (let left = count; left > 0; left -= MEGABYTE) yield new Uint8Array(Math.min(left, MEGABYTE));
};

test('the container of a job can do nothing but its job', () => {
  const given = describeInstance({ kind: 'postgres', id: 'ds_1', labels: { role: 'datastore', project: 'shop' } });
  const made = jobSpec(
    {
      instance: given,
      purpose: 'dump',
      image: 'postgres:17',
      argv: ['pg_dump', '-Fc'],
      env: { A: 'b' },
      memoryMb: 64,
      signal: new AbortController().signal,
    },
    {
      ip: '10.200.0.20',
      labels: { role: 'job' },
      suffix: 'x1',
      pipes: { input: '/data/pipes/x1/input', output: '/data/pipes/x1/output' },
    },
  );
  expect(made).toEqual({
    name: 'berth-ds_1-dump-x1',
    image: 'postgres:17',
    entrypoint: ['pg_dump', '-Fc'],
    command: [],
    env: { A: 'b' },
    labels: { role: 'job', project: 'shop' },
    network: { name: 'berth-shop', ip: '10.200.0.20', aliases: [] },
    loopbackPorts: [],
    mounts: [
      { hostPath: '/data/pipes/x1/input', target: '/berth/input', readOnly: true },
      { hostPath: '/data/pipes/x1/output', target: '/berth/output', readOnly: false },
    ],
    volumes: [],
    memoryBytes: 64 * MEGABYTE,
    cpus: 0,
    cpuShares: 256,
    pidsLimit: 128,
    capAdd: [],
    readOnlyRoot: false,
    tmpfs: [],
    restart: 'no',
    init: true,
    stopGraceSeconds: 0,
    keepLogs: false,
  });
});

describe('a job', () => {
  test('reads its input, gives its output in order, and ends with its code and last lines of stderr', async () => {
    const said: string[] = [];
    const printed: string[] = [];
    const script = `for i in {1..60}; do echo "line $i" >&2; done; (cat ${JOB_INPUT}; echo "$GREETING") >${JOB_OUTPUT}; echo printed; exit 7`;
    const end = await bench.run(
      request(script, {
        env: { GREETING: 'hi; $(id)' },
        input: (async function* () {
          yield Buffer.from('one\n');
          yield Buffer.from('two\n');
        })(),
        output: (chunk) => void said.push(Buffer.from(chunk).toString()),
        stdout: (chunk) => void printed.push(Buffer.from(chunk).toString()),
      }),
    );
    expect(said.join('')).toBe('one\ntwo\nhi; $(id)\n');
    expect(printed.join('')).toBe('printed\n');
    expect(end).toMatchObject({ exitCode: 7, oomKilled: false });
    const lines = end.stderr.split('\n');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([50, 'line 11', 'line 60']);
    await nothingLeft();
  });
  test('has nothing on its stdin', async () => {
    expect(await bench.run(request('wc -c >&2'))).toEqual({ exitCode: 0, oomKilled: false, stderr: '0' });
  });
  test('waits for whoever takes its output', async () => {
    let size = 0;
    let inside = 0;
    const end = await bench.run(
      request(`head -c ${20 * MEGABYTE} /dev/zero >${JOB_OUTPUT}`, {
        output: async (chunk) => {
          inside += 1;
          expect(inside).toBe(1);
          await Bun.sleep(0);
          size += chunk.length;
          inside -= 1;
        },
      }),
    );
    expect([end.exitCode, size]).toEqual([0, 20 * MEGABYTE]);
  });
  test('takes a large input', async () => {
    expect((await bench.run(request(`wc -c <${JOB_INPUT} >&2`, { input: bytes(200 * MEGABYTE) }))).stderr).toBe(
      String(200 * MEGABYTE),
    );
  });
  test('that ends before its input does ends all the same, and its source is left', async () => {
    const left = Promise.withResolvers<boolean>();
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield new Uint8Array(MEGABYTE);
      } finally {
        left.resolve(true);
      }
    };
    expect((await bench.run(request(`head -c 3 ${JOB_INPUT} >&2; exit 3`, { input: endless() }))).exitCode).toBe(3);
    expect(await left.promise).toBe(true);
    await nothingLeft();
  });
  test('whose source fails never sees the end of its input', async () => {
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(10);
      throw new Error('the file is damaged');
    };
    let said = '';
    const stdout = (chunk: Uint8Array): void => {
      said += Buffer.from(chunk).toString();
    };
    const running = bench.run(request(`cat ${JOB_INPUT} >/dev/null; echo ended`, { input: broken(), stdout }));
    expect(await running.catch(String)).toContain('the file is damaged');
    expect(said).toBe('');
    await nothingLeft();
  });
  test('fails with what its reader threw', async () => {
    const output = (): never => {
      throw new Error('the disk is full');
    };
    expect(await bench.run(request(`echo one >${JOB_OUTPUT}; sleep 60`, { output })).catch(String)).toContain(
      'the disk is full',
    );
    await nothingLeft();
  });
  test('is killed and removed when it is aborted, even if its reader never goes on', async () => {
    const abort = new AbortController();
    const reached = Promise.withResolvers<void>();
    const output = (): Promise<void> => {
      reached.resolve();
      return new Promise(() => undefined);
    };
    const running = bench
      .run(request(`echo one >${JOB_OUTPUT}; sleep 60`, { output, signal: abort.signal }))
      .catch(String);
    await reached.promise;
    const begin = performance.now();
    abort.abort(new Error('changed my mind'));
    expect(await running).toContain('changed my mind');
    expect(performance.now() - begin).toBeLessThan(5000);
    await nothingLeft();
    expect(await bench.run(request('true', { signal: abort.signal })).catch(String)).toContain('changed my mind');
  });
  test('that opens neither input nor output ends all the same, and its source is left unread', async () => {
    let left = false;
    const unread: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error('read')),
        return: () => {
          left = true;
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
    const said: Uint8Array[] = [];
    const output = (chunk: Uint8Array): void => void said.push(chunk);
    const end = await bench.run(request('exit 4', { input: unread as AsyncGenerator<Uint8Array>, output }));
    expect(end.exitCode).toBe(4);
    expect(said).toEqual([]);
    await nothingLeft();
    expect(left).toBe(true);
  });
  test('that is aborted before it opens anything leaves nothing', async () => {
    const signal = AbortSignal.timeout(1500);
    const idle = request('sleep 60', { input: bytes(10), output: () => undefined, signal });
    expect(await bench.run(idle).catch((thrown: unknown) => thrown)).toHaveProperty('name', 'TimeoutError');
    await nothingLeft();
  });
  test('may write from several programs, one after the other', async () => {
    let said = '';
    const script = `exec 3>${JOB_OUTPUT}; for i in 1 2 3; do echo $i >&3; sleep 0.1; done`;
    await bench.run(request(script, { output: (chunk) => void (said += Buffer.from(chunk).toString()) }));
    expect(said).toBe('1\n2\n3\n');
  });
  test('says that it ran out of memory', async () => {
    const end = await bench.run(request(`head -c ${200 * MEGABYTE} /dev/zero | tail`, { memoryMb: 32 }));
    expect(end.oomKilled).toBe(true);
    await nothingLeft();
  });
  test('that cannot be started leaves nothing', async () => {
    const elsewhere = { ...instance, network: `${lab.prefix}-gone` };
    const error = await bench.run(request('true', { instance: elsewhere })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'NOT_FOUND' });
    await nothingLeft();
    expect((await bench.run(request('', { argv: ['/no/such/program'] }))).exitCode).toBe(127);
  });
});

describe('while Docker is away', () => {
  test('a job whose connection broke is no job that has ended', async () => {
    const cut: Runtime = {
      ...lab.runtime,
      attach: async (id) => {
        const ends = await lab.runtime.attach(id);
        const partly = async function* (): typeof ends.output {
          for await (const chunk of ends.output) {
            yield chunk;
            return;
          }
        };
        return { ...ends, output: partly() };
      },
    };
    const hurried = {
      ...systemClock,
      sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 100, signal),
    };
    const running = jobsOn(cut, quiet, hurried).run(request('echo part; sleep 60; echo rest'));
    expect(await running.catch((error: unknown) => error)).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
    await nothingLeft();
  });
  test('the address of a job that could not be removed stays taken', async () => {
    const fake = createFakeRuntime({ images: [IMAGE], program: () => ({ exitCode: 0 }), now: systemClock.now });
    await fake.ensureNetwork({
      name: instance.network,
      subnet: '10.9.0.0/24',
      gateway: '10.9.0.1',
      bridge: 'b',
      labels: {},
      interContainer: true,
    });
    fake.failNext('remove');
    const logged: string[] = [];
    const log = createLog('error', (line) => void logged.push(line), systemClock.now);
    expect(await jobsOn(fake, log).run(request('true'))).toMatchObject({ exitCode: 0 });
    expect(taken).toHaveLength(1);
    expect(logged.join('')).toContain('could not remove the container of a job');
    taken = [];
  });
});
