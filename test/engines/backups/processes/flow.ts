import { randomBytes } from 'node:crypto';
import { generateX25519Identity } from 'age-encryption';
import { createBackups } from '#engines/backups/backups';
import { createKeys } from '#engines/backups/identity';
import type { Bytes } from '#engines/backups/port';
import { putOf } from '#test/contracts/backups.ts';
import { diskVault } from '../support.ts';

// Run by faults.test.ts, in a process of its own: prints by how many bytes it grew at most while 256 MiB went in and out.
const [, , dir = '', mode] = process.argv;
const keys = mode === 'sealed' ? await createKeys([await generateX25519Identity()]) : undefined;
const backups = createBackups({ disk: diskVault(dir, keys), recipient: null });
const name = { project: 'shop', datastore: 'db', key: 'nightly-1' };
const chunk = randomBytes(64 * 1024);

const source = async function* (): Bytes {
  for (let i = 0; i < 4096; i += 1) {
    yield Buffer.from(chunk);
    if (i % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
};

Bun.gc(true);
const before = process.memoryUsage.rss();
let peak = before;
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 5);
await backups.put(name, { ...putOf(Buffer.from('')), bytes: source() });
await backups.check(name, { signal: new AbortController().signal });
clearInterval(watch);
process.stdout.write(String(peak - before));
