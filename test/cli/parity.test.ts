import { expect, test } from 'bun:test';
import type { Command } from '#cli/command';
import { loadChapters } from '#cli/commands/index';
import { missingFrom, operationIds, unknownIn } from '#test/support/operations.ts';

const commands: Command[] = (await loadChapters()).flatMap(({ entries }) =>
  entries.flatMap((entry) => (entry.kind === 'command' ? [entry] : entry.commands)),
);
const reached = new Set(commands.flatMap((command) => command.operations));
const ids = await operationIds();

test('every operation of the API has a command', () => {
  expect(ids.length).toBeGreaterThan(50);
  expect(missingFrom(reached, ids)).toEqual([]);
});

test('no command claims an operation that the API does not have', () => {
  expect(unknownIn(reached, ids)).toEqual([]);
});

test('an operation without a command is noticed, and so is a misspelt one', () => {
  expect(missingFrom(reached, [...ids, 'paintService'])).toContain('paintService');
  const fewer = new Set([...reached].filter((id) => id !== 'getRepoArchive'));
  expect(missingFrom(fewer, ids)).toContain('getRepoArchive');
  expect(missingFrom(reached, ids)).not.toContain('getRepoArchive');
  expect(missingFrom(fewer, ids, { getRepoArchive: 'a reason' })).not.toContain('getRepoArchive');
  expect(unknownIn(new Set([...reached, 'createDeplyo']), ids)).toContain('createDeplyo');
});
