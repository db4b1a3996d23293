import type { GitDeps } from './deps.ts';
import type { ObjectId, RefUpdate, RepoId } from './port.ts';
import type { GitCommand } from './run.ts';

/** Names as bytes in latin1: those of others need not be UTF-8, and reach git again as they came. */
export type RefTable = ReadonlyMap<string, ObjectId>;

export interface RefChange {
  name: string;
  before: ObjectId | null;
  after: ObjectId | null;
}

const MIRRORED = ['refs/heads/', 'refs/tags/'];
/** Some 500,000 refs. */
const MAX_TABLE_BYTES = 64 * 1024 ** 2;

export const readRefs = async ({ git }: GitDeps, where: Pick<GitCommand, 'repo' | 'env'>): Promise<RefTable> => {
  const { stdout } = await git.run({
    ...where,
    args: ['for-each-ref', '--format=%(objectname) %(refname)', ...MIRRORED],
    maxBytes: MAX_TABLE_BYTES,
  });
  const lines = Buffer.from(stdout).toString('latin1').split('\n');
  return new Map(
    lines
      .filter((line) => line !== '')
      .map((line) => {
        const space = line.indexOf(' ');
        return [line.slice(space + 1), line.slice(0, space)];
      }),
  );
};

/** What makes `present` the same as `wanted`. */
export const planRefs = (present: RefTable, wanted: RefTable): RefChange[] => {
  const changes: RefChange[] = [];
  for (const [name, before] of present) if (!wanted.has(name)) changes.push({ name, before, after: null });
  for (const [name, after] of wanted) {
    const before = present.get(name) ?? null;
    if (before !== after) changes.push({ name, before, after });
  }
  return changes;
};

/**
 * The changes as transactions. It is one, except when a name becomes a folder of others or the other way round: git then
 * wants the old names gone first.
 */
export const transactionsOf = (changes: readonly RefChange[]): RefChange[][] => {
  const created = changes.filter(({ before }) => before === null).map(({ name }) => name);
  const folders = new Set(created.flatMap(foldersOf));
  const names = new Set(created);
  const isInTheWay = ({ name, after }: RefChange): boolean =>
    after === null && (folders.has(name) || foldersOf(name).some((folder) => names.has(folder)));
  const rest = changes.filter((change) => !isInTheWay(change));
  return [changes.filter(isInTheWay), rest].filter((transaction) => transaction.length > 0);
};

const foldersOf = (name: string): string[] =>
  name
    .split('/')
    .slice(0, -1)
    .map((_part, index, parts) => parts.slice(0, index + 1).join('/'));

export const applyRefs = async (
  { git }: GitDeps,
  repo: RepoId,
  changes: readonly RefChange[],
): Promise<RefUpdate[]> => {
  for (const transaction of transactionsOf(changes)) {
    await git.run({ repo, args: ['update-ref', '--stdin', '-z'], input: instructions(transaction) });
  }
  const zeros = '0'.repeat((changes[0]?.after ?? changes[0]?.before ?? '').length);
  return changes.map(({ name, before, after }) => ({
    ref: Buffer.from(name, 'latin1').toString('utf8'),
    before: before ?? zeros,
    after: after ?? zeros,
    refused: null,
  }));
};

/** Each with the value that it had: whoever came in between loses nothing. */
const instructions = (changes: readonly RefChange[]): Buffer =>
  Buffer.from(
    changes
      .map(({ name, before, after }) =>
        after === null
          ? `delete ${name}\0${before ?? ''}\0`
          : `update ${name}\0${after}\0${before ?? '0'.repeat(after.length)}\0`,
      )
      .join(''),
    'latin1',
  );
