import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#kernel/clock';
import { createPlaces } from '#engines/git/places';
import { GitFailure, createRunGit } from '#engines/git/run';
import { SETTINGS } from '#engines/git/settings';

const dir = mkdtempSync(join(tmpdir(), 'berth-git-run-'));
afterAll(() => rmSync(dir, { recursive: true }));
const places = createPlaces(dir);
const git = createRunGit({ places, clock: systemClock, git: 'git' });

const stderrOf = (thrown: unknown): string => (thrown instanceof GitFailure ? thrown.stderr : String(thrown));
const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && 'kind' in thrown ? thrown.kind : thrown);

/** A program in git's place, which does what git cannot be made to do. */
const fakeGit = (name: string, script: string) => {
  const path = join(dir, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return createRunGit({ places, clock: systemClock, git: path });
};

test('git sees the settings of berth and nothing of the environment', async () => {
  const listed = await git.text({ args: ['config', '--list', '--show-scope', '-z'] });
  const settings = listed
    .split('command\0')
    .slice(1)
    .map((entry) => entry.slice(0, -1).replace('\n', '='));
  expect(settings.map((entry) => entry.toLowerCase())).toEqual(
    Object.entries(SETTINGS).map(([key, value]) => `${key}=${value}`.toLowerCase()),
  );
  expect(listed).not.toContain('global\0');
  process.env['BERTH_TEST_MARK'] = 'secret';
  expect(await fakeGit('env', 'env').text({ args: [] })).not.toContain('BERTH_TEST_MARK');
});

test('a repository that does not exist, or whose id cannot be one, is NOT_FOUND', async () => {
  for (const repo of ['missing', '../etc', '', '-x', 'a/b', 'a\0', '.'])
    expect(await git.text({ repo, args: ['rev-parse', 'HEAD'] }).catch(codeOf)).toBe('NOT_FOUND');
});

test('a failure carries what git said', async () => {
  mkdirSync(join(dir, 'broken.git'));
  writeFileSync(join(dir, 'broken.git', 'HEAD'), 'nonsense');
  expect(await git.text({ repo: 'broken', args: ['rev-parse', 'HEAD'] }).catch(stderrOf)).toContain(
    'not a git repository',
  );
  expect((await git.run({ args: ['no-such-command'], accept: [1] })).stderr).toContain('is not a git command');
});

test('input and output are streamed, and a program that stops reading is not an error of its own', async () => {
  const input = async function* () {
    for (let n = 0; n < 500; n++) yield new Uint8Array(65_536).fill(97);
  };
  const all = await fakeGit('cat', 'exec cat').run({ args: [], input: input(), maxBytes: 1e9 });
  expect(all.stdout.length).toBe(500 * 65_536);
  const early = await fakeGit('early', 'head -c 10; exit 0').run({ args: [], input: input() });
  expect(new TextDecoder().decode(early.stdout)).toBe('a'.repeat(10));
});

test('an input that fails kills git and is told', async () => {
  const input = async function* () {
    yield new Uint8Array(3);
    throw new Error('the source broke');
  };
  const failed = await fakeGit('sleepy', 'sleep 60').run({ args: [], input: input() }).catch(String);
  expect(failed).toBe('Error: the source broke');
});

test('too much output, a deadline and an abort each end git and its children', async () => {
  const endless = fakeGit('endless', 'yes & yes');
  expect(await endless.run({ args: [], maxBytes: 1e6 }).catch(codeOf)).toBe('INVALID_INPUT');
  const stuck = fakeGit('stuck', 'sleep 71 & sleep 72');
  expect(await stuck.run({ args: ['x'], deadlineMs: 50 }).catch(codeOf)).toBe('TIMEOUT');
  const leaving = new AbortController();
  const run = stuck.run({ args: [], signal: leaving.signal });
  leaving.abort(new Error('gone'));
  expect(await run.catch(String)).toBe('Error: gone');
  expect(await stuck.run({ args: [], signal: leaving.signal }).catch(String)).toBe('Error: gone');
  const left = Bun.spawnSync(['ps', '-eo', 'args']).stdout.toString();
  expect(left).not.toMatch(/^sleep 7[12]$/m);
});

test('a full disk is told as one', async () => {
  const full = fakeGit('full', 'echo "fatal: write error: No space left on device" >&2; exit 128');
  expect(await full.run({ args: [] }).catch((thrown: GitFailure) => thrown.code)).toBe('ENOSPC');
});

test('a server without git says so', async () => {
  const none = createRunGit({ places, clock: systemClock, git: '/nonexistent/git' });
  expect(await none.run({ args: ['version'] }).catch(String)).toContain('git cannot be started');
});
