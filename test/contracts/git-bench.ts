import { expect } from 'bun:test';
import type { Git } from '#engines/git/port';
import { BerthError, type ErrorCode } from '#kernel/errors';

export interface GitHarness {
  git: Pick<
    Git,
    | 'create'
    | 'resolve'
    | 'refs'
    | 'commits'
    | 'commit'
    | 'tree'
    | 'file'
    | 'diff'
    | 'compare'
    | 'archive'
    | 'writeCommit'
  >;
  /** The folder of a repository, for git itself. */
  dirOf: (repo: string) => string;
  close: () => void;
}

/** The error of what must fail in this way. */
export const refusal = async (kind: ErrorCode, outcome: Promise<unknown>): Promise<BerthError> => {
  const thrown: unknown = await outcome.then(
    (value) => `resolved with ${JSON.stringify(value)}`,
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof BerthError)) throw new Error(`not refused: ${String(thrown)}`, { cause: thrown });
  expect({ kind: thrown.kind, message: thrown.message, hint: thrown.hint }).toEqual({
    kind,
    message: thrown.message,
    hint: expect.stringMatching(/./),
  });
  return thrown;
};
