import type { Context } from './context.ts';

interface FlagBase {
  summary: string;
  /** One letter. */
  short?: string;
}

/** Where a value's completions come from. */
export type Complete = 'file' | 'directory';

export type FlagSpec =
  | (FlagBase & {
      type: 'boolean';
      /** On unless `--no-<name>` is given; `auto`: undefined until given. */ on?: true | 'auto';
    })
  | (FlagBase & { type: 'string'; value: string; choices?: readonly string[]; complete?: Complete })
  | (FlagBase & { type: 'strings'; value: string; choices?: readonly string[]; complete?: Complete })
  | (FlagBase & { type: 'number'; value: string; integer?: true; min?: number });

export type FlagSpecs = Readonly<Record<string, FlagSpec>>;

export interface ArgSpec {
  summary: string;
  /** A list of all the arguments left over. */
  variadic?: true;
  optional?: true;
  choices?: readonly string[];
  complete?: Complete;
}

export type ArgSpecs = Readonly<Record<string, ArgSpec>>;

type FlagValue<S extends FlagSpec> = S extends { type: 'boolean' }
  ? boolean
  : S extends { type: 'strings' }
    ? string[]
    : S extends { type: 'number' }
      ? number | undefined
      : string | undefined;

type ArgValue<S extends ArgSpec> = S extends { variadic: true }
  ? string[]
  : S extends { optional: true }
    ? string | undefined
    : string;

export interface Input<F extends FlagSpecs = FlagSpecs, A extends ArgSpecs = ArgSpecs> {
  flags: { [K in keyof F]: FlagValue<F[K]> };
  args: { [K in keyof A]: ArgValue<A[K]> };
}

export interface Example {
  line: string;
  says: string;
}

/**
 * What a command needs to know about its target; it brings the flags for it. `server`: endpoint and token;
 * `project` and `service` add `--project` and `--service`.
 */
export type Scope = 'none' | 'server' | 'project' | 'service';

/** A command as parsing, help, completion and docs/cli.md see it. */
export interface Command {
  kind: 'command';
  name: string;
  summary: string;
  /** More paragraphs for `--help`. */
  details?: readonly string[];
  examples: readonly Example[];
  scope: Scope;
  /** The operations of the API that this command is the way to, by operationId. */
  operations: readonly string[];
  args: ArgSpecs;
  flags: FlagSpecs;
  /** Returns the exit code; nothing means 0. */
  run(context: Context, input: Input): Promise<number | void>;
}

/** Commands under one noun, such as `env set`. */
export interface Group {
  kind: 'group';
  name: string;
  summary: string;
  /** In the order in which help shows them. */
  commands: readonly Command[];
  /** Name of the command that runs when none is given. */
  fallback?: string;
  /** The name of a command comes first, or there is none: for flags whose values look like names. */
  leading?: true;
}

export type Entry = Command | Group;

interface Definition<F extends FlagSpecs, A extends ArgSpecs> {
  name: string;
  summary: string;
  details?: readonly string[];
  examples: readonly Example[];
  scope: Scope;
  operations?: readonly string[];
  args: A;
  flags: F;
  run(context: Context, input: Input<F, A>): Promise<number | void>;
}

/** Declares a command; `run` gets its flags and arguments typed from the declaration. */
export const defineCommand = <const F extends FlagSpecs, const A extends ArgSpecs>(
  definition: Definition<F, A>,
): Command => ({
  ...definition,
  kind: 'command',
  operations: definition.operations ?? [],
  // The parser builds the input from these same declarations. What a scope and all commands share stays out.
  run: (context, input) =>
    definition.run(context, { args: input.args, flags: own(definition.flags, input.flags) } as Input<F, A>),
});

const own = (declared: FlagSpecs, given: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.keys(declared).map((name) => [name, given[name]]));

export const defineGroup = (group: Omit<Group, 'kind'>): Group => ({ ...group, kind: 'group' });

/** Flags of every command. */
export const COMMON_FLAGS = {
  json: {
    type: 'boolean',
    on: 'auto',
    summary: 'print JSON; automatic when stdout is no terminal (--no-json for text)',
  },
  help: { type: 'boolean', short: 'h', summary: 'show help' },
} as const satisfies FlagSpecs;

/** Also of `login`, which saves it. */
export const CA_FLAG = {
  type: 'string',
  value: 'FILE',
  complete: 'file',
  summary: 'certificate of a private authority that the server is trusted by (BERTH_CA)',
} as const satisfies FlagSpec;

const SERVER_FLAGS = {
  endpoint: { type: 'string', value: 'URL', summary: 'address of the server (SERVICE_ENDPOINT)' },
  token: { type: 'string', value: 'TOKEN', summary: 'bearer token (SERVICE_TOKEN)' },
  profile: { type: 'string', value: 'NAME', summary: 'saved server to use (BERTH_PROFILE)' },
  ca: CA_FLAG,
} as const satisfies FlagSpecs;

const PROJECT_FLAGS = {
  project: { type: 'string', short: 'p', value: 'NAME', summary: 'project; remembered per folder' },
} as const satisfies FlagSpecs;

const SERVICE_FLAGS = {
  service: { type: 'string', short: 's', value: 'NAME', summary: 'service; remembered per folder' },
} as const satisfies FlagSpecs;

/** The flags that a scope brings. */
export const scopeFlags = (scope: Scope): FlagSpecs => ({
  ...(scope === 'service' ? SERVICE_FLAGS : {}),
  ...(scope === 'service' || scope === 'project' ? PROJECT_FLAGS : {}),
  ...(scope === 'none' ? {} : SERVER_FLAGS),
});

/** All flags that a command understands: its own, those of its scope, the common ones. */
export const flagsOf = (command: Command): FlagSpecs => ({
  ...command.flags,
  ...scopeFlags(command.scope),
  ...COMMON_FLAGS,
});
