import { backupsContract } from '#test/contracts/backups.ts';
import { createBackups } from '#engines/backups/backups';
import { startS3 } from '#test/support/s3.ts';
import { s3Files, s3Options, s3Vault } from './support.ts';

backupsContract('s3', async () => {
  const server = await startS3();
  return {
    open: (keys) => createBackups({ disk: s3Vault(s3Options(server), keys), recipient: keys?.recipient ?? null }),
    files: s3Files(server.client, 'berth/'),
    cleanUp: server.stop,
  };
});
