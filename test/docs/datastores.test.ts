import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { loadChapters } from '#cli/commands/index';
import { parseInput, pickEntry } from '#cli/parse';
import { DEFAULT_CONFIG, tomlName, type Config } from '#kernel/config';
import { EVENT_KINDS } from '#modules/events';

const text = await Bun.file(join(import.meta.dir, '../../docs/datastores.md')).text();

const blocks = [...text.matchAll(/^```\w*\n([^]*?)^```/gm)].map(([, block = '']) => block).join('\n');

/** Lines of shell that begin with `berth`, as arguments; comments, redirections and what follows are cut off. */
const lines = [...blocks.matchAll(/^(?:\$ )?berth ([^\n#<>&|;]+)/gm)].map(([, line = '']) =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain),
);

test('every command line is one that berth takes', async () => {
  const entries = (await loadChapters()).flatMap((chapter) => chapter.entries);
  expect(lines.length).toBeGreaterThan(30);
  for (const [first = '', second = '', ...rest] of lines) {
    const entry = pickEntry(first, entries, 'berth');
    if (entry.kind === 'command') parseInput(entry, first, [second, ...rest]);
    else parseInput(pickEntry(second, entry.commands, `berth ${first}`), first, rest);
  }
});

test('every event is one that there is', () => {
  const named = [...text.matchAll(/`((?:datastore|backup|query|tunnel)\.[a-z_]+)`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !(EVENT_KINDS as readonly string[]).includes(name))).toEqual([]);
});

test('every setting is one that there is', () => {
  const keys = new Set<string>((Object.keys(DEFAULT_CONFIG) as (keyof Config)[]).map(tomlName));
  const named = [...text.matchAll(/(?:^|`)((?:backup|quota|min)_[a-z0-9_]+)(?:`| = )/gm)].map(([, key = '']) => key);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((key) => !keys.has(key))).toEqual([]);
});
