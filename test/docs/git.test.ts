import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { loadChapters } from '#cli/commands/index';
import { parseInput, pickEntry } from '#cli/parse';
import { DEFAULT_CONFIG, tomlName, type Config } from '#kernel/config';
import { EVENT_KINDS } from '#modules/events';

const text = await Bun.file(join(import.meta.dir, '../../docs/git.md')).text();

const blocks = [...text.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => block).join('\n');
const inline = [...text.matchAll(/`(berth [^`<]+)`/g)].map(([, line = '']) => line).join('\n');

/** Lines of shell that begin with `berth`, as arguments; comments, redirections and what follows are cut off. */
const lines = [...`${blocks}\n${inline}`.matchAll(/^berth ([^\n#<>&|;]+)/gm)].map(([, line = '']) =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain),
);

test('every command line is one that berth takes', async () => {
  const entries = (await loadChapters()).flatMap((chapter) => chapter.entries);
  expect(lines.length).toBeGreaterThan(20);
  for (const [first = '', second, ...rest] of lines) {
    const entry = pickEntry(first, entries, 'berth');
    const given = second === undefined ? [] : [second, ...rest];
    // Named in passing, without its arguments.
    if (given.length < 2) continue;
    if (entry.kind === 'command') parseInput(entry, first, given);
    else parseInput(pickEntry(second ?? '', entry.commands, `berth ${first}`), first, rest);
  }
});

test('every event of repositories is named, and no other', () => {
  const named = [...text.matchAll(/`(repo\.[a-z_]+)`/g)].map(([, name = '']) => name);
  const kinds = EVENT_KINDS.filter((kind) => kind.startsWith('repo.'));
  expect([...new Set(named)].sort()).toEqual([...kinds].sort());
});

test('every setting is one that there is, with its default', () => {
  const keys = new Set<string>((Object.keys(DEFAULT_CONFIG) as (keyof Config)[]).map(tomlName));
  const named = [...text.matchAll(/(?:^|`)((?:quota|max|mirror)_[a-z_]+)(?:`| = )/gm)].map(([, key = '']) => key);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((key) => !keys.has(key))).toEqual([]);
  expect(text).toContain(`| \`quota_repos\` | ${DEFAULT_CONFIG.quotaRepos} |`);
  expect(text).toContain(`| \`max_push_bytes\` | ${DEFAULT_CONFIG.maxPushBytes / 1024 ** 3} GiB |`);
  expect(text).toContain(`| \`max_repo_bytes\` | ${DEFAULT_CONFIG.maxRepoBytes / 1024 ** 3} GiB;`);
  expect(DEFAULT_CONFIG.mirrorPollSeconds).toBe(300);
});
