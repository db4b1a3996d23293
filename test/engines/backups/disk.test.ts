import { backupsContract } from '#test/contracts/backups.ts';
import { createBackups } from '#engines/backups/backups';
import { diskFiles, diskVault, newDir, removeDir } from './support.ts';

backupsContract('disk', async () => {
  const dir = await newDir();
  return {
    open: (keys) => createBackups({ disk: diskVault(dir, keys), recipient: keys?.recipient ?? null }),
    files: diskFiles(dir),
    cleanUp: () => removeDir(dir),
  };
});
