import { expect, test } from 'bun:test';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createGit } from '#engines/git/index';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { fsck, rawText, temporaryDir } from '#test/support/git.ts';
import { atEnd } from '#test/support/preload.ts';

const COMMITTER = join(import.meta.dir, 'processes', 'committer.ts');

/** The git processes of a process. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

/** Dead already is as good. */
const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown;
  }
};

test('whenever berth and its git are killed in the middle of commits, the repository is whole and takes the next', async () => {
  const { dir, remove } = temporaryDir('berth-git-kills');
  atEnd(remove);
  const log = createLog('error', (line) => process.stderr.write(line), Date.now);
  const git = createGit({ dir, clock: systemClock, log });
  await git.create('r', 'main');
  const path = join(dir, 'r.git');
  let commits = 0;
  for (let round = 0; round < 12; round++) {
    const committer = Bun.spawn([process.execPath, COMMITTER, dir, 'r'], { stdout: 'pipe', stderr: 'inherit' });
    const reader = committer.stdout.getReader();
    await reader.read();
    // At another moment of a commit each time: there are about twenty milliseconds in one.
    await Bun.sleep(round * 3);
    // Every other time berth alone: its git then finds its input ended.
    const children = round % 2 === 0 ? childrenOf(committer.pid) : [];
    for (const pid of [committer.pid, ...children]) kill(pid);
    await committer.exited;
    const head = rawText(path, ['rev-parse', 'main']);
    expect(fsck(path)).toBe('');
    const author = { name: 'ci', email: 'ci@shop' };
    const actions = [{ action: 'write' as const, path: 'round', content: Buffer.from(String(round)) }];
    const next = await git.writeCommit('r', { branch: 'main', message: 'Next', author, at: Date.now(), actions });
    expect(next?.before).toBeString();
    expect(rawText(path, ['merge-base', '--is-ancestor', head, 'main'])).toBe('');
    const count = Number(rawText(path, ['rev-list', '--count', 'main']));
    expect(count).toBeGreaterThan(commits);
    commits = count;
  }
  await git.maintain('r', new AbortController().signal);
  expect(readdirSync(path).filter((name) => /lock|crash/.test(name))).toEqual([]);
  expect(fsck(path)).toBe('');
}, 120_000);
