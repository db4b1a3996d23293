import { homedir } from 'node:os';
import type { Io, Writer } from '#cli/io';
import { run } from '#cli/run';

const stopped = Promise.withResolvers<'SIGTERM' | 'SIGINT'>();
const abort = new AbortController();
let serving = false;
let asked = 0;

/** Ctrl-C asks the command to end well; a second one ends it at once. */
const onSignal = (signal: 'SIGTERM' | 'SIGINT'): void => {
  asked += 1;
  if (serving) stopped.resolve(signal);
  else abort.abort();
  if (asked > 1) process.exit(signal === 'SIGINT' ? 130 : 143);
};

const writer = (stream: NodeJS.WriteStream): Writer => ({
  write: (text) => void stream.write(text),
  isTTY: stream.isTTY,
  get columns() {
    return stream.columns > 0 ? stream.columns : 80;
  },
});

/** Whoever reads us may stop early (`berth logs | head`): that is no fault. */
const onStreamError = (error: Error & { code?: string }): void => {
  // A server goes on without its log when the disk is full or the reader is gone.
  if (serving) return;
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
};

const io: Io = {
  env: process.env,
  cwd: process.cwd(),
  home: homedir(),
  stdout: writer(process.stdout),
  stderr: writer(process.stderr),
  interactive: process.stdin.isTTY && process.stderr.isTTY,
  ask: async (question, options) => (await import('#cli/ask')).ask(question, options?.hidden === true, abort.signal),
  readStdin: () => new Response(Bun.stdin.stream()).text(),
  signal: abort.signal,
  untilStopped: () => {
    serving = true;
    return stopped.promise;
  },
};

process.stdout.on('error', onStreamError);
process.stderr.on('error', onStreamError);
process.on('SIGINT', onSignal);
process.on('SIGTERM', onSignal);

const code = await run(process.argv.slice(2), io);
// Both streams may be pipes, which are written in the background.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise<void>((done) => void stream.write('', () => done()))),
);
process.exit(code);
