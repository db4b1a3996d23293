import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { receiveSource } from '#src/deploy/upload.ts';
import { systemClock } from '#kernel/clock';
import { tempDir } from '#test/modules/support/rig.ts';

const GZIPPED = Bun.gzipSync(new TextEncoder().encode('a tar'));

const upload = async (body: Uint8Array<ArrayBuffer> | FormData | string): Promise<Buffer> => {
  const file = join(tempDir(), 'source.tar.gz');
  const headers = body instanceof FormData ? {} : { 'content-type': 'application/gzip' };
  const request = new Request('http://berth.test/', { method: 'POST', body, headers });
  await receiveSource({ request, file, maxBytes: 1000, clock: systemClock });
  return readFileSync(file);
};

const form = (content: BlobPart): FormData => {
  const fields = new FormData();
  fields.append('note', 'before the file');
  fields.append('source', new Blob([content]), 'source.tar.gz');
  return fields;
};

test('a gzipped source is stored as it came, raw or as a field of a form', async () => {
  expect(Uint8Array.from(await upload(GZIPPED))).toEqual(GZIPPED);
  expect(Uint8Array.from(await upload(form(GZIPPED)))).toEqual(GZIPPED);
});

test.each([
  ['a plain tar', 'x'.repeat(512)],
  ['one byte', new Uint8Array([0x1f])],
  ['a form with a file that is no gzip', form('PK')],
  ['a form with an empty file', form('')],
])('%s is INVALID_INPUT before anything is queued', async (_name, body) => {
  expect(await upload(body).catch((error: unknown) => error)).toMatchObject({
    kind: 'INVALID_INPUT',
    message: 'the source is not gzipped',
  });
});
