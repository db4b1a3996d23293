import { createGit } from '#engines/git/index';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';

/** Commits to a repository until it is killed: `committer.ts <dir> <repo>`. */
const [dir = '', repo = ''] = process.argv.slice(2);
const git = createGit({
  dir,
  clock: systemClock,
  log: createLog('error', (line) => process.stderr.write(line), Date.now),
});

for (let i = 0; ; i++) {
  const actions = Array.from({ length: 20 }, (_, n) => ({
    action: 'write' as const,
    path: `folder-${n % 5}/file-${n}`,
    content: Buffer.from(`${process.pid} ${i} ${'x'.repeat(20_000)}`),
  }));
  const author = { name: 'ci', email: 'ci@shop' };
  await git.writeCommit(repo, { branch: 'main', message: `Commit ${i}`, author, at: Date.now(), actions });
  process.stdout.write('.');
}
