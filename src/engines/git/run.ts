import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import type { Places } from './places.ts';
import type { RepoId } from './port.ts';
import { gitEnvironment } from './settings.ts';

export interface GitCommand {
  /** The subcommand and its arguments, as argv. What comes from outside belongs after `--` or into `input`. */
  args: readonly string[];
  /** Passed as `--git-dir`; NOT_FOUND when it does not exist. */
  repo?: RepoId;
  /** Git configuration beside berth's own (settings.ts), such as `{ 'receive.maxInputSize': '1g' }`. */
  settings?: Readonly<Record<string, string>>;
  /** Environment variables beside those of settings.ts. */
  env?: Readonly<Record<string, string>>;
  /** Kills git. */
  signal?: AbortSignal;
  /** Milliseconds until it is killed; Infinity for none. */
  deadlineMs?: number;
}

/** How a process ended. */
export interface GitEnd {
  /** Exit code; 128 + n for signal n. */
  code: number;
  /** The tail of what it said. */
  stderr: string;
}

/** A running git; whoever starts it reads `stdout` to its end, or kills it. */
export interface GitProcess {
  /** Only what the reader takes is read: a slow reader slows git down. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** Resolves when git has room for more; bytes that it does not want are dropped. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends its stdin. */
  end(): Promise<void>;
  /** SIGTERM to git and its children, so that it takes its temporary files away; SIGKILL when that does not help. */
  kill(): void;
  /** Never rejects. */
  readonly ended: Promise<GitEnd>;
}

export interface GitResult extends GitEnd {
  stdout: Uint8Array;
}

export interface RunOptions extends GitCommand {
  input?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** More than this of stdout kills git and rejects; 16 MiB by default. */
  maxBytes?: number;
  /** Exit codes that are answers and no failures; `[0]` by default. */
  accept?: readonly number[];
}

/** The only way to start git. */
export interface RunGit {
  /** For streams. Without a deadline unless one is given. */
  start(command: GitCommand): GitProcess;
  /** To its end, within a minute by default. Throws GitFailure; the abort reason; TIMEOUT. */
  run(options: RunOptions): Promise<GitResult>;
  /** What `run` printed, as UTF-8. */
  text(options: RunOptions): Promise<string>;
}

/** Git ended with a code that means failure. Callers who know what it means translate it. */
export class GitFailure extends Error {
  readonly exitCode: number;
  readonly stderr: string;
  /** `ENOSPC` when the disk was full, so that it is answered as that. */
  readonly code: string;

  constructor(subcommand: string, end: GitEnd) {
    super(`git ${subcommand} ended with ${end.code}: ${end.stderr.trim().slice(-2000)}`);
    this.name = 'GitFailure';
    this.exitCode = end.code;
    this.stderr = end.stderr;
    this.code = /no space left on device/i.test(end.stderr) ? 'ENOSPC' : 'GIT';
  }
}

const RUN_MS = 60_000;
const RUN_BYTES = 16 * 1024 ** 2;
const KILL_AFTER_MS = 5000;
const STDERR_TAIL = 16 * 1024;

export const createRunGit = (deps: { places: Places; clock: Clock; git: string }): RunGit => {
  const start = (command: GitCommand): GitProcess => startGit(deps, command);
  const run = (options: RunOptions): Promise<GitResult> => runToEnd(start, deps.clock, options);
  return { start, run, text: async (options) => new TextDecoder().decode((await run(options)).stdout) };
};

const startGit = (deps: { places: Places; clock: Clock; git: string }, command: GitCommand): GitProcess => {
  command.signal?.throwIfAborted();
  const { args, repo, deadlineMs = Infinity } = command;
  const place = repo === undefined ? [] : [`--git-dir=${deps.places.existing(repo)}`];
  const child = spawn([deps.git, ...place, ...args], gitEnvironment(command.settings ?? {}, command.env ?? {}));
  const over = new AbortController();
  const kill = (): void => void stop(child, deps.clock, over.signal);
  command.signal?.addEventListener('abort', kill, { signal: over.signal, once: true });
  if (deadlineMs !== Infinity) {
    void deps.clock.sleep(deadlineMs, over.signal).then(() => (over.signal.aborted ? undefined : kill()));
  }
  const said = tailOf(child.stderr);
  const ended = child.exited.then(async (code) => {
    over.abort();
    return { code, stderr: await said };
  });
  return { stdout: child.stdout, ...stdinOf(child), kill, ended };
};

type Child = Bun.Subprocess<'pipe', 'pipe', 'pipe'>;

const spawn = (argv: string[], env: Record<string, string>): Child => {
  try {
    // A process group of its own: `kill` reaches git's children, and Ctrl-C in a terminal does not break a push in two.
    return Bun.spawn(argv, { cwd: '/', env, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', detached: true });
  } catch (thrown) {
    throw new BerthError('INTERNAL_ERROR', 'git cannot be started on this server', {
      hint: 'install git (see: berth doctor), then retry',
      cause: thrown,
    });
  }
};

const stop = async (child: Child, clock: Clock, over: AbortSignal): Promise<void> => {
  signalGroup(child, 'SIGTERM');
  await clock.sleep(KILL_AFTER_MS, over);
  if (!over.aborted) signalGroup(child, 'SIGKILL');
};

const signalGroup = (child: Child, signal: 'SIGTERM' | 'SIGKILL'): void => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch (thrown) {
    // It ended in between.
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown;
  }
};

const stdinOf = (child: Child): Pick<GitProcess, 'write' | 'end'> => {
  let closed = false;
  const attempt = async (action: () => unknown): Promise<void> => {
    if (closed) return;
    try {
      await action();
    } catch (thrown) {
      closed = true;
      if (!isBrokenPipe(thrown)) throw thrown;
    }
  };
  return {
    write: (bytes) =>
      attempt(async () => {
        await child.stdin.write(bytes);
        await child.stdin.flush();
      }),
    end: () => attempt(() => child.stdin.end()),
  };
};

/** Git says by its exit code why it stopped reading. */
const isBrokenPipe = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && (thrown.code === 'EPIPE' || thrown.code === 'ECONNRESET');

const tailOf = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) tail = Buffer.concat([tail, chunk]).subarray(-STDERR_TAIL);
  return tail.toString('utf8');
};

const runToEnd = async (
  start: (command: GitCommand) => GitProcess,
  clock: Clock,
  options: RunOptions,
): Promise<GitResult> => {
  const { deadlineMs = RUN_MS, accept = [0], signal } = options;
  const until = clock.monotonic() + deadlineMs;
  const git = start({ ...options, deadlineMs });
  const [stdout] = await Promise.all([collect(git, options.maxBytes ?? RUN_BYTES), feed(git, options.input)]);
  const end = await git.ended;
  const subcommand = options.args[0] ?? '';
  if (accept.includes(end.code)) return { ...end, stdout };
  signal?.throwIfAborted();
  if (clock.monotonic() >= until) {
    throw new BerthError('TIMEOUT', `git ${subcommand} took more than ${Math.round(deadlineMs / 1000)} s`, {
      hint: 'ask for less at once, or retry when the server has less to do',
      retryable: true,
    });
  }
  throw new GitFailure(subcommand, end);
};

const feed = async (git: GitProcess, input: RunOptions['input']): Promise<void> => {
  try {
    if (typeof input === 'string') await git.write(Buffer.from(input));
    else if (input instanceof Uint8Array) await git.write(input);
    else if (input !== undefined) for await (const chunk of input) await git.write(chunk);
  } catch (thrown) {
    git.kill();
    throw thrown;
  } finally {
    await git.end();
  }
};

const collect = async (git: GitProcess, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of git.stdout) {
    size += chunk.length;
    if (size > maxBytes) {
      git.kill();
      throw new BerthError('INVALID_INPUT', `the answer is larger than ${maxBytes} bytes`, {
        hint: 'ask for less at once',
        httpStatus: 413,
      });
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
};
