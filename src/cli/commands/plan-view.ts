import type { Change, DryRun } from '#kernel/schema';
import type { Context } from '../context.ts';
import { CliFailure } from '../failure.ts';
import { buildText } from './build-view.ts';
import type { SourceTree } from '../pack/walk.ts';
import { createUpload } from './source.ts';

export interface PlanRequest {
  project: string;
  service: string;
  tree: SourceTree;
}

/**
 * Has the server plan a deploy of the source, and shows the plan with its reasons. Without a server that answers, or for a
 * project that is not there yet, this executable plans by itself, and says so.
 */
export const showPlan = async (context: Context, request: PlanRequest): Promise<void> => {
  const server = await context.findServer();
  const answer = server === undefined ? 'no server is set' : await planThere(context, request);
  const reply = typeof answer === 'string' ? await planHere(context, request, answer) : answer;
  context.out.data(reply, () => planText(reply));
};

/** Failures that say nothing of the source. */
const NO_ANSWER = new Set<string>(['NOT_FOUND', 'UNREACHABLE']);

const planThere = async (context: Context, { project, service, tree }: PlanRequest): Promise<DryRun | string> => {
  const api = await context.api();
  const upload = await createUpload(context, tree);
  try {
    return await api.planDeploy(project, service, upload.stream);
  } catch (thrown) {
    if (thrown instanceof CliFailure && NO_ANSWER.has(thrown.body.code)) return thrown.message;
    throw thrown;
  } finally {
    upload.end();
  }
};

const planHere = async (context: Context, { service, tree }: PlanRequest, why: string): Promise<DryRun> => {
  context.out.note(`planned by this client, without variables of a project: ${why}`);
  const { planFolder } = await import('./plan-folder.ts');
  return planFolder(tree, service);
};

/** A dry run as people read it: the summary, each change, what is said about it, and how the source is built. */
export const planText = ({ plan }: DryRun): string => {
  const builds = plan.changes.flatMap(({ build }) => (build === undefined ? [] : [buildText(build)]));
  return [plan.summary, ...plan.changes.map(changeText), ...builds].join('\n');
};

const HEAD = new Set(['action', 'resource', 'name', 'build']);

const changeText = (change: Change): string => {
  const details = Object.entries(change)
    .filter(([key, value]) => !HEAD.has(key) && value !== null && value !== undefined)
    .map(([key, value]) => detail(key.replaceAll('_', ' '), value, '    '));
  return [`  ${change.action} ${change.resource} ${change.name}`, ...details].join('\n');
};

const detail = (name: string, value: unknown, indent: string): string => {
  if (Array.isArray(value))
    return value.length === 0
      ? `${indent}${name}: none`
      : [`${indent}${name}:`, ...value.map((item) => `${indent}  - ${oneLine(item)}`)].join('\n');
  if (typeof value === 'object' && value !== null) {
    return [
      `${indent}${name}:`,
      ...Object.entries(value).map(([key, inner]) => detail(key.replaceAll('_', ' '), inner, `${indent}  `)),
    ].join('\n');
  }
  const text = String(value);
  return text.includes('\n')
    ? `${indent}${name}:\n${text
        .trimEnd()
        .split('\n')
        .map((line) => `${indent}  ${line}`)
        .join('\n')}`
    : `${indent}${name}: ${text}`;
};

const oneLine = (item: unknown): string => {
  if (typeof item !== 'object' || item === null) return String(item);
  return Object.entries(item)
    .map(
      ([key, value]) =>
        `${key.replaceAll('_', ' ')}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
    )
    .join(' · ');
};
