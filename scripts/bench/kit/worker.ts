import { join } from 'node:path';
import type { Scope } from './scope.ts';

/** A process of its own, so that what it does costs the measured server no turn of its event loop. */
export interface Worker<Result> {
  pid: number;
  /** Tells it to end, and gives what it found. */
  finish(): Promise<Result>;
}

/** Starts `processes/<name>.ts` with its options as JSON. It is ready when this resolves. */
export const startWorker = async <Result>(scope: Scope, name: string, options: unknown): Promise<Worker<Result>> => {
  const script = join(import.meta.dir, '../processes', `${name}.ts`);
  const child = Bun.spawn([process.execPath, script, JSON.stringify(options)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  scope.defer(async () => {
    child.kill('SIGKILL');
    await child.exited;
  });
  const lines = readLines(child.stdout);
  const first = await lines.next();
  if (first.value !== 'ready') throw new Error(`${name} did not become ready`);
  return {
    pid: child.pid,
    finish: async () => {
      await child.stdin.end();
      const last = await lines.next();
      await child.exited;
      if (last.done === true) throw new Error(`${name} ended without a result`);
      return JSON.parse(last.value) as Result;
    },
  };
};

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}
