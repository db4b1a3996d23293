import { Type, type Static, type TObject, type TProperties, type TSchema } from '@sinclair/typebox';
import { ERROR_CODES } from '#kernel/errors';
import { ChangeSchema, DryRunSchema, ErrorBodySchema, Name, oneOf } from '#kernel/schema';
import type { Capability } from '#kernel/scope';
import type { Api } from '#cli/client/api';

/** How this server is reached; what a tool can be given differs. */
export type Surface = 'stdio' | 'http';

/** One call of a tool. */
export interface Call {
  /** The API with the caller's token, bound to this call: it ends when the call is cancelled. */
  api: Api;
  /** The same API with another end, for waiting that stops earlier, and for what follows a cancellation. */
  apiFor: (signal: AbortSignal) => Api;
  /** Ends with the call. */
  signal: AbortSignal;
  /** Whether the client cancelled the call, rather than went away or gave up waiting. */
  cancelled: () => boolean;
  /** Tells the client how far it is, when it asked for that. */
  progress: Progress;
  /** For people: the log of the program. */
  note: (text: string) => void;
  /** Where relative directories of the stdio surface begin. */
  cwd: string;
}

export interface Progress {
  /** `step` of 5, rising; without it, another sign of life within the step. */
  report(message: string, step?: number): void;
}

/** What a tool returns: `data` becomes structured content; `text` replaces its JSON for the model when that reads better. */
export interface Reply {
  data: Record<string, unknown>;
  text?: string;
  /** The work was done, and failed: `data.error` says why. */
  failed?: boolean;
}

export interface Hints {
  readOnly?: true;
  destructive?: true;
  idempotent?: true;
  openWorld?: true;
}

/** A tool as it is listed and called. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  /** The operation of the API that it is, whose capability it needs. */
  operationId: string;
  capability: Capability | 'any' | 'public';
  hints: Hints;
  input: TObject;
  output: TObject;
  /** Takes `dry_run`, which gives the plan instead. */
  dryRun: boolean;
  run(call: Call, args: Record<string, unknown>): Promise<Reply>;
}

interface Definition<P extends TProperties> extends Omit<Tool, 'input' | 'dryRun' | 'run'> {
  input: P;
  dryRun?: true;
  run(call: Call, args: Static<TObject<P>>): Promise<Reply>;
}

/** Which project and service a tool is about; both exist, or the API says so. */
export const PROJECT = { ...Name, description: 'name of the project' };
export const SERVICE = { ...Name, description: 'name of the service' };

const DryRun = Type.Optional(Type.Boolean({ description: 'true: reply with the plan, and change nothing' }));

/** Declares a tool; `run` gets its arguments checked, and typed by `input`. */
export const defineTool = <const P extends TProperties>(definition: Definition<P>): Tool => ({
  ...definition,
  dryRun: definition.dryRun === true,
  input: Type.Object(withDryRun(definition), { additionalProperties: false }),
  run: (call, args) => definition.run(call, args as Static<TObject<P>>),
});

const withDryRun = ({ input, dryRun }: { input: TProperties; dryRun?: true }): TProperties =>
  dryRun === true ? { ...input, dry_run: DryRun } : input;

/** The API's error object; UNREACHABLE is the one that arises on this side of it. */
export const McpErrorSchema = Type.Object({
  ...ErrorBodySchema.properties,
  code: oneOf([...ERROR_CODES, 'UNREACHABLE']),
});

const PlanSchema = Type.Object({
  dry_run: DryRunSchema.properties.dry_run,
  plan: Type.Object({
    summary: DryRunSchema.properties.plan.properties.summary,
    changes: Type.Array(Type.Omit(ChangeSchema, ['build'])),
  }),
});

/** Everything that structured content of a tool can be: its reply, the plan of a dry run, or an error. */
export const outputOf = (tool: Tool): TSchema => {
  const { properties, required = [] } = tool.output;
  const plan = tool.dryRun ? PlanSchema.properties : {};
  const error = properties['error'] ?? McpErrorSchema;
  return Type.Unsafe({
    type: 'object',
    properties: { ...properties, ...plan, error },
    anyOf: [{ required }, ...(tool.dryRun ? [{ required: ['dry_run', 'plan'] }] : []), { required: ['error'] }],
  });
};
