import type { PushOutcome, RefUpdate, RepoId } from './port.ts';
import type { PushCommand, PushHeader } from './push-header.ts';
import { parseReport } from './push-report.ts';
import type { RunGit } from './run.ts';

const MISSING = '0'.repeat(40);

/** From git's report; for a client that asked for none, and when git ended before it, from the refs as they are now. */
export const outcomeOf = async (
  git: RunGit,
  repo: RepoId,
  header: PushHeader,
  answer: Uint8Array,
): Promise<PushOutcome> => {
  const { commands, capabilities, options } = header;
  if (commands.length === 0) return { updates: [], options };
  const reports = capabilities.has('report-status') || capabilities.has('report-status-v2');
  const report = reports ? parseReport(answer) : undefined;
  const refs = report === undefined ? await readRefs(git, repo) : new Map<string, string>();
  const refusedOf = ({ key, after }: PushCommand): string | null => {
    if (report === undefined) return (refs.get(key) ?? MISSING) === after ? null : 'the ref was not changed';
    const verdict = report.refs.get(key);
    return verdict === undefined ? 'git did not report it' : verdict;
  };
  const updates = commands.map((command): RefUpdate => {
    const { ref, before, after } = command;
    return { ref, before, after, refused: refusedOf(command) };
  });
  return { updates, options };
};

/** All refs, by their names in Latin-1. */
const readRefs = async (git: RunGit, repo: RepoId): Promise<Map<string, string>> => {
  const { stdout } = await git.run({ repo, args: ['for-each-ref', '--format=%(objectname) %(refname)'] });
  const lines = Buffer.from(stdout).toString('latin1').split('\n');
  return new Map(lines.map((line) => [line.slice(MISSING.length + 1), line.slice(0, MISSING.length)]));
};
