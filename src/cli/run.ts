import type { Command, Group, Input } from './command.ts';
import { COMMAND_NAMES, loadChapters, loadCommand } from './commands/index.ts';
import { CliFailure, EXIT, interrupted, Planned, systemHint, usageError, type FailureBody } from './failure.ts';
import type { Io } from './io.ts';
import { createOut, type Out } from './output/out.ts';
import { parseInput, pickEntry, splitWord } from './parse.ts';
import { didYouMean } from './suggest.ts';
import { VERSION } from './version.ts';

/** Runs one command line and returns the exit code. Nothing but the code leaves by another way than `io`. */
export const run = async (argv: readonly string[], io: Io): Promise<number> => {
  let out = createOut(io, jsonWanted(argv, io));
  try {
    const { word, rest } = splitWord(argv);
    if (word === undefined) return await withoutCommand(rest, out);
    const { command, path, argv: own } = await find(word, rest, out);
    if (command === undefined) return EXIT.ok;
    const input = parseInput(command, path, own);
    if (input.flags['help']) {
      const { commandHelp } = await import('./help.ts');
      out.raw(commandHelp(command, path, out));
      return EXIT.ok;
    }
    out = createOut(io, flagOf(input, 'json') ?? !io.stdout.isTTY);
    return await execute(command, input, io, out);
  } catch (thrown) {
    const failure = failureFrom(thrown, io);
    out.failure(withLogin(failure.body));
    return failure.exitCode;
  }
};

const execute = async (command: Command, input: Input, io: Io, out: Out): Promise<number> => {
  const { createContext } = await import('./context.ts');
  const text = (name: string): string | undefined => {
    const value: unknown = input.flags[name];
    return typeof value === 'string' ? value : undefined;
  };
  const targets =
    command.scope === 'none'
      ? {}
      : {
          endpoint: text('endpoint'),
          token: text('token'),
          profile: text('profile'),
          ca: text('ca'),
          project: text('project'),
          service: text('service'),
          dryRun: flagOf(input, 'dry-run'),
        };
  try {
    return (await command.run(await createContext(io, out, targets), input)) ?? EXIT.ok;
  } catch (thrown) {
    if (!(thrown instanceof Planned)) throw thrown;
    const { planText } = await import('./commands/plan-view.ts');
    out.data(thrown.reply, () => planText(thrown.reply));
    return EXIT.ok;
  }
};

const withoutCommand = async (argv: readonly string[], out: Out): Promise<number> => {
  if (argv.includes('--version') || argv.includes('-V')) {
    out.raw(VERSION);
    return EXIT.ok;
  }
  const unknown = argv.find((arg) => arg.startsWith('-') && !['-h', '--help', '--json', '--no-json'].includes(arg));
  if (unknown !== undefined) throw usageError(`unknown flag ${unknown}`, 'name a command first; see: berth --help');
  const { rootHelp } = await import('./help.ts');
  const help = rootHelp(await loadChapters(), out);
  if (argv.length > 0) {
    out.raw(help);
    return EXIT.ok;
  }
  out.note(help.trimEnd());
  if (out.json) throw usageError('no command is given', `valid: ${COMMAND_NAMES.join(', ')}`);
  return EXIT.usage;
};

interface Found {
  /** Missing when help was asked for, and printed. */
  command: Command | undefined;
  path: string;
  argv: string[];
}

const find = async (word: string, rest: string[], out: Out): Promise<Found> => {
  const entry = await loadCommand(word);
  if (entry === undefined)
    throw usageError(`unknown command "${word}"`, didYouMean(word, COMMAND_NAMES, 'see: berth --help'));
  const path = `berth ${entry.name}`;
  if (entry.kind === 'command') return { command: entry, path, argv: rest };
  return findInGroup(entry, path, rest, out);
};

const findInGroup = async (group: Group, path: string, argv: string[], out: Out): Promise<Found> => {
  const { word, rest } = group.leading === true ? leadingWord(argv) : splitWord(argv);
  const wantsHelp = argv.includes('--help') || argv.includes('-h');
  if (word === undefined && (wantsHelp || group.fallback === undefined)) {
    const { groupHelp } = await import('./help.ts');
    const help = groupHelp(group, path, out);
    if (!wantsHelp)
      throw usageError(`${path} needs a command`, `valid: ${group.commands.map((command) => command.name).join(', ')}`);
    out.raw(help);
    return { command: undefined, path, argv: [] };
  }
  const command = pickEntry(word ?? group.fallback ?? '', group.commands, path);
  return { command, path: `${path} ${command.name}`, argv: rest };
};

const leadingWord = ([first, ...rest]: string[]): ReturnType<typeof splitWord> =>
  first === undefined || first.startsWith('-')
    ? { word: undefined, rest: [...(first === undefined ? [] : [first]), ...rest] }
    : { word: first, rest };

const flagOf = (input: Input, name: string): boolean | undefined => {
  const value: unknown = input.flags[name];
  return typeof value === 'boolean' ? value : undefined;
};

/** Before the flags are parsed, errors already have to come in the right form. */
const jsonWanted = (argv: readonly string[], io: Io): boolean => {
  if (argv.includes('--no-json')) return false;
  return argv.includes('--json') || !io.stdout.isTTY;
};

const failureFrom = (thrown: unknown, io: Io): CliFailure => {
  if (thrown instanceof CliFailure) return thrown;
  if (io.signal.aborted) return interrupted('interrupted', '');
  const body = isBerthError(thrown) ? thrown.toBody() : undefined;
  if (body !== undefined) return new CliFailure(body.code === 'INVALID_INPUT' ? { ...body, code: 'USAGE' } : body);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new CliFailure(
    { code: 'LOCAL_ERROR', message, hint: systemHint(thrown) ?? OWN_FAULT, retryable: false },
    { cause: thrown },
  );
};

/** What the API says for all callers, with the way that people take here. */
const withLogin = (body: FailureBody): FailureBody =>
  body.code === 'UNAUTHENTICATED' ? { ...body, hint: `${body.hint}; then: berth login <url>` } : body;

const OWN_FAULT = 'this is a fault of the client: report it with the command that you ran';

/** Errors of the kernel (configuration, schema); told by their shape, so that the class need not be loaded. */
const isBerthError = (thrown: unknown): thrown is Error & { toBody(): FailureBody } =>
  thrown instanceof Error && thrown.name === 'BerthError' && 'toBody' in thrown;
