import { writeSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Io, Writer } from '#cli/io';
import { run } from '#cli/run';

const stopped = Promise.withResolvers<'SIGTERM' | 'SIGINT' | 'SIGUSR2'>();
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

/**
 * Output that cannot be written. Whoever reads us may stop early (`berth logs | head`): that is no fault. A full disk below a
 * redirection is one.
 */
const onStreamError = (error: Error & { code?: string }): void => {
  // A server goes on without its log when the disk is full or the reader is gone.
  if (serving) return;
  if (error.code === 'EPIPE') process.exit(0);
  complain(
    `cannot write the output: ${error.message}`,
    error.code === 'ENOSPC' ? 'free disk space, then run it again' : '',
  );
  process.exit(1);
};

/** Directly, because what failed may be the streams. */
const complain = (message: string, hint: string): void => {
  const body = { code: 'LOCAL_ERROR', message, hint, retryable: false };
  const text = process.stdout.isTTY ? `error: ${message}${hint === '' ? '' : `\nhint: ${hint}`}` : JSON.stringify(body);
  try {
    writeSync(2, `${text}\n`);
  } catch {
    // Stderr cannot be written either: only the exit code is left to say so.
  }
};

const writer = (stream: NodeJS.WriteStream): Writer => ({
  write: (text) => void stream.write(text, (error) => (error ? onStreamError(error) : undefined)),
  isTTY: stream.isTTY,
  get columns() {
    return stream.columns > 0 ? stream.columns : 80;
  },
});

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
    process.on('SIGUSR2', () => stopped.resolve('SIGUSR2'));
    return stopped.promise;
  },
  exec: (executable) => replaceProcess(executable, [executable, ...process.argv.slice(2)], process.env),
};

/** execve(2): process id, streams and folder stay, so no supervisor notices. */
const replaceProcess = (executable: string, argv: string[], env: NodeJS.ProcessEnv): never => {
  const { execve } = process;
  if (execve === undefined) throw new Error('this platform cannot replace a process');
  return execve.call(process, executable, argv, env);
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
