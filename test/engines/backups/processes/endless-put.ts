import { randomBytes } from 'node:crypto';
import { createBackups } from '#engines/backups/backups';
import type { Bytes } from '#engines/backups/port';
import { putOf } from '#test/contracts/backups.ts';
import { diskVault } from '../support.ts';

// Run by faults.test.ts, which kills it.
const endless = async function* (): Bytes {
  for (let count = 0; ; count += 1) {
    yield randomBytes(1024 * 1024);
    if (count === 4) process.stdout.write('writing\n');
    await Bun.sleep(5);
  }
};

const backups = createBackups({ disk: diskVault(process.argv[2] ?? ''), recipient: null });
await backups.put(
  { project: 'shop', datastore: 'db', key: 'nightly-1' },
  { ...putOf(Buffer.from('')), bytes: endless() },
);
