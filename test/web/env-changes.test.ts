import { describe, expect, test } from 'bun:test';
import { changesOf, readPlan } from '../../web/env/changes.ts';

const planOf = (changes: { action: string; resource: string; name: string }[]) => ({
  dry_run: true as const,
  plan: { summary: '', changes },
});

describe('what a pasted .env asks for', () => {
  test('is its values, and with those names that it lacks unset', () => {
    expect(changesOf('A=1\nexport B="two\nlines"\n# C=3\n', ['A', 'OLD'])).toEqual({
      OLD: null,
      A: '1',
      B: 'two\nlines',
    });
  });

  test('keeps a variable that is called env or __proto__ a variable', () => {
    const changes = changesOf('env=x\n__proto__=y\n', []);
    expect(Object.entries(changes)).toEqual([
      ['env', 'x'],
      ['__proto__', 'y'],
    ]);
  });

  test('that cannot be read names the line, and not what stands in it', () => {
    expect(() => changesOf('A=1\nhunter2 is my password\n', [])).toThrow(/line 2 of the file/);
    expect(() => changesOf('A=1\nhunter2 is my password\n', [])).not.toThrow(/hunter2/);
  });
});

describe('the plan of a change', () => {
  test('tells new, replaced, unchanged and unset names apart, and what restarts', () => {
    const plan = readPlan(
      planOf([
        { action: 'update', resource: 'env', name: 'NEW' },
        { action: 'update', resource: 'env', name: 'OTHER' },
        { action: 'delete', resource: 'env', name: 'GONE' },
        { action: 'restart', resource: 'service', name: 'web' },
      ]),
      { OTHER: 'x', NEW: 'y', SAME: 'z', GONE: null },
      ['OTHER', 'SAME', 'GONE'],
    );
    expect(plan).toEqual({
      names: [
        { name: 'GONE', fate: 'unset' },
        { name: 'NEW', fate: 'new' },
        { name: 'OTHER', fate: 'replaced' },
        { name: 'SAME', fate: 'unchanged' },
      ],
      restarts: ['web'],
    });
  });
});
