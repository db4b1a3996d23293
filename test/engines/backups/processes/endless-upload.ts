import { randomBytes } from 'node:crypto';
import type { Bytes } from '#engines/backups/port';
import { createS3Place } from '#engines/backups/s3';
import type { S3Server } from '#test/support/s3.ts';
import { s3Options } from '../support.ts';

// Run by s3-faults.test.ts, which kills it.
const endless = async function* (): Bytes {
  for (let count = 0; ; count += 1) {
    yield randomBytes(1024 * 1024);
    // By now parts of 5 MiB were stored.
    if (count === 16) process.stdout.write('writing\n');
    await Bun.sleep(5);
  }
};

const server = JSON.parse(process.argv[2] ?? '') as S3Server;
const signal = new AbortController().signal;
await createS3Place(s3Options(server)).write(process.argv[3] ?? '', endless(), { estimate: 1, signal });
