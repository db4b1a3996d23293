import { join } from 'node:path';
import { createGit } from '#engines/git/index';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { gitContract } from '#test/contracts/git.ts';
import { temporaryDir } from '#test/support/git.ts';

gitContract('git’s own programs', () => {
  const { dir, remove } = temporaryDir('berth-git');
  const git = createGit({
    dir,
    clock: systemClock,
    log: createLog(
      'error',
      (line) => process.stderr.write(line),
      () => 0,
    ),
  });
  return { git, dirOf: (repo) => join(dir, `${repo}.git`), close: remove };
});
