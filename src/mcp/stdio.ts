import { PassThrough, type Readable, type Writable } from 'node:stream';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Caller } from './caller.ts';
import { createMcpServer } from './server.ts';

/** Calls under way that are still answered when the client has closed its end. */
const DRAIN_MS = 5000;

export interface StdioOptions {
  endpoint: string;
  token: string | undefined;
  /** Certificates of a private authority, PEM. */
  ca?: string | undefined;
  cwd: string;
  input: Readable;
  output: Writable;
  note: (text: string) => void;
  /** Ends it. */
  signal: AbortSignal;
}

/** Serves MCP over the streams of the program until the client closes its end. Nothing but the protocol goes out. */
export const serveMcpStdio = async (options: StdioOptions): Promise<void> => {
  const { endpoint, token, ca, cwd, note, signal, output } = options;
  const calls = createCalls();
  const caller: Caller = {
    surface: 'stdio',
    endpoint,
    token,
    ca,
    cwd,
    note,
    ended: signal,
    enlist: calls.enlist,
    endsWithConnection: () => false,
  };
  const input = new PassThrough();
  const over = drained(options.input, input, calls);
  const transport = new StdioServerTransport(input, output);
  const handle = serveStdio(() => createMcpServer(caller), {
    transport,
    onerror: (error) => note(error.message),
  });
  const stopped = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
  await Promise.race([over, stopped]);
  await handle.close();
};

interface Calls {
  enlist: NonNullable<Caller['enlist']>;
  /** Resolves when none is under way. */
  idle(): Promise<void>;
}

const createCalls = (): Calls => {
  let underWay = 0;
  let waiting: (() => void)[] = [];
  return {
    enlist: () => {
      underWay += 1;
      return () => {
        underWay -= 1;
        if (underWay > 0) return;
        for (const done of waiting) done();
        waiting = [];
      };
    },
    idle: () => (underWay === 0 ? Promise.resolve() : new Promise((done) => waiting.push(done))),
  };
};

/**
 * Hands the client's bytes on. The SDK drops what is unanswered at the end of its input; whoever pipes requests in and
 * closes gets their answers by this delay.
 */
const drained = (source: Readable, input: PassThrough, calls: Calls): Promise<void> =>
  new Promise((done) => {
    source.pipe(input, { end: false });
    const finish = async (): Promise<void> => {
      await new Promise((soon) => setTimeout(soon, 50));
      await Promise.race([calls.idle(), new Promise((late) => setTimeout(late, DRAIN_MS))]);
      input.end();
      done();
    };
    source.once('end', () => void finish());
    source.once('error', () => void finish());
    source.once('close', () => void finish());
  });
