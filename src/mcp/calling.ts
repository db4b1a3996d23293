import { Value } from '@sinclair/typebox/value';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { Planned } from '#cli/failure';
import { describeFindings, type Finding } from '#http/validation';
import { type BerthError, invalidInput } from '#kernel/errors';
import { toolErrorOf, type ToolError } from './failure.ts';
import type { Call, Reply, Tool } from './tool.ts';

/** Checks the arguments, runs the tool, and turns whatever comes of it into its result. */
export const callTool = async (tool: Tool, args: unknown, call: (dryRun: boolean) => Call): Promise<CallToolResult> => {
  try {
    const given = checked(tool, args ?? {});
    const { dry_run: dryRun, ...rest } = given;
    return resultOf(await tool.run(call(dryRun === true), rest));
  } catch (thrown) {
    if (thrown instanceof Planned) return resultOf({ data: { ...thrown.reply } });
    return failureResult(toolErrorOf(thrown));
  }
};

export const failureResult = (error: ToolError): CallToolResult => resultOf({ data: { error }, failed: true });

const resultOf = ({ data, text, failed }: Reply): CallToolResult => ({
  content: [{ type: 'text', text: text ?? JSON.stringify(data) }],
  structuredContent: data,
  ...(failed === true ? { isError: true } : {}),
});

const checked = (tool: Tool, args: unknown): Record<string, unknown> => {
  const findings = [...Value.Errors(tool.input, args)] as Finding[];
  if (findings.length === 0) return args as Record<string, unknown>;
  if (findings.some(({ path }) => path === '/directory') && tool.input.properties['files'] !== undefined)
    throw noDisk();
  const { message, hint } = describeFindings('arguments', findings);
  throw invalidInput(message, hint);
};

/** Never a path of the server's own disk. */
const noDisk = (): BerthError =>
  invalidInput(
    'arguments.directory is unknown: over HTTP this server cannot read your disk',
    'give the files in arguments.files, commit them with service_commit_files to a repository that deploys the service, or run "berth mcp" where the source is',
  );
