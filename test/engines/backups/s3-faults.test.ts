import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { createBackups } from '#engines/backups/backups';
import type { Backups, Bytes } from '#engines/backups/port';
import { createS3Place, type S3Options } from '#engines/backups/s3';
import { codeOf, s3Failure } from '#engines/backups/s3-failures';
import { signedHeaders } from '#engines/backups/s3-sign';
import { parsePage } from '#engines/backups/s3-unfinished';
import { partSizeFor } from '#engines/backups/s3-upload';
import { collect, failureOf, newName, putOf } from '#test/contracts/backups.ts';
import { docker } from '#test/support/docker.ts';
import { startS3, type S3Server } from '#test/support/s3.ts';
import { until } from '#test/support/until.ts';
import { createStubS3 } from './stub-s3.ts';
import { s3Options, s3Vault } from './support.ts';

const signal = new AbortController().signal;
const MIB = 1024 * 1024;

const backupsOver = (options: S3Options): Backups => createBackups({ disk: s3Vault(options), recipient: null });

const megabytes = async function* (count: number, dies = false): Bytes {
  for (let i = 0; i < count; i += 1) yield randomBytes(MIB);
  if (dies) throw new Error('the source died');
};

describe('a real server', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server.stop());

  test.each([
    ['a wrong secret', { secretAccessKey: 'MARKER-SECRET' }, 'secret key', 'backup_s3_secret_key'],
    ['an unknown access key', { accessKeyId: 'nobody' }, 'does not know the access key', 'backup_s3_access_key'],
    ['a missing bucket', { bucket: 'nowhere' }, 'has no such bucket', 'backup_s3_bucket'],
    ['another region', { region: 'eu-central-7' }, 'another region', 'backup_s3_region'],
  ])('%s is told by every call, once, without a secret', async (_, change, says, hint) => {
    const options = s3Options(server, change);
    const backups = backupsOver(options);
    const name = newName();
    const calls = [
      () => backups.put(name, putOf(randomBytes(10))),
      () => backups.put(name, { ...putOf(Buffer.from('')), bytes: megabytes(20) }),
      () => backups.open(name, { signal }),
      () => backups.find(name),
      () => backups.remove(name),
      () => backups.usedBytes('shop'),
      () => backups.removeParts(),
    ];
    for (const call of calls) {
      const failure = await failureOf(call());
      expect(failure).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: false });
      expect(failure.message).toContain(says);
      expect(failure.hint).toContain(hint);
      expect(Bun.inspect(failure)).not.toContain(options.secretAccessKey);
    }
  });

  test.each([
    ['http://127.0.0.1:1', 'ConnectionRefused'],
    ['http://nowhere.invalid', 'DNSResolveFailed'],
  ])('an endpoint that cannot be reached is retryable: %s', async (endpoint, code) => {
    const failure = await failureOf(backupsOver(s3Options(server, { endpoint })).find(newName()));
    expect(failure).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
    expect(failure.message).toContain(endpoint);
    expect(failure.message).toContain(code);
  });

  test('a backup of several parts comes out as it went in', async () => {
    const backups = backupsOver(s3Options(server));
    const name = newName();
    const bytes = randomBytes(18 * MIB + 17);
    const manifest = await backups.put(name, { ...putOf(bytes), estimate: bytes.byteLength });
    expect(await collect(await backups.open(name, { expected: manifest, signal }))).toEqual(bytes);
  });

  test('an upload that fails in the middle is aborted: nothing of it is left, parts included', async () => {
    const backups = backupsOver(s3Options(server, { unfinishedMs: 0 }));
    const request = { ...putOf(Buffer.from('')), bytes: megabytes(18, true), estimate: 20 * MIB };
    expect(await backups.put(newName(), request).catch(String)).toContain('the source died');
    // The client aborts it behind the error. Where this server keeps parts, there are none.
    const parts = ['exec', server.container, 'find', '/data', '-path', '*.sgwtmp*', '-type', 'f'];
    await until(async () => (await docker(parts)) === '');
  });

  test('what a killed upload left is aborted by removeParts once it is old, and not before', async () => {
    const argv = [`${import.meta.dir}/processes/endless-upload.ts`, JSON.stringify(server), 'shop/left/backup.dump'];
    const dying = Bun.spawn([process.execPath, ...argv], { stdout: 'pipe' });
    await dying.stdout.getReader().read();
    dying.kill('SIGKILL');
    await dying.exited;
    expect(await createS3Place(s3Options(server)).removeUnfinished()).toBe(0);
    expect(await createS3Place(s3Options(server, { prefix: 'another', unfinishedMs: 0 })).removeUnfinished()).toBe(0);
    expect(await createS3Place(s3Options(server, { unfinishedMs: 0 })).removeUnfinished()).toBe(1);
    expect(await createS3Place(s3Options(server, { unfinishedMs: 0 })).removeUnfinished()).toBe(0);
  });

  test('a file without manifest is left alone until it is a day old', async () => {
    const backups = createBackups({ disk: s3Vault(s3Options(server), undefined, 86_400_000), recipient: null });
    await server.client.write('berth/shop/fresh/orphan.dump', 'x');
    expect(await backups.removeParts()).toBe(0);
    expect(await backupsOver(s3Options(server)).removeParts()).toBeGreaterThan(0);
    expect(await server.client.exists('berth/shop/fresh/orphan.dump')).toBe(false);
  });

  test('two berths with prefixes of their own do not see each other', async () => {
    const [one, two] = ['one', 'two'].map((prefix) => backupsOver(s3Options(server, { prefix })));
    const name = newName();
    await one?.put(name, putOf(Buffer.from('x')));
    expect((await two?.list())?.backups).toEqual([]);
    expect(await server.client.exists(`one/${name.project}/${name.datastore}/${name.key}.json`)).toBe(true);
  });
});

describe('a server that misbehaves', () => {
  const options = (endpoint: string): S3Options => ({
    ...s3Options({ ...PLACE, endpoint } as S3Server),
    deadlineMs: 300,
    silenceMs: 300,
  });

  test('a failing part ends in an abort and a retryable error', async () => {
    const stub = createStubS3({ part: () => new Response(errorOf('InternalError'), { status: 500 }) });
    const request = { ...putOf(Buffer.from('')), bytes: megabytes(12), estimate: 12 * MIB };
    const failure = await failureOf(backupsOver(options(stub.endpoint)).put(newName(), request));
    expect(failure).toMatchObject({ retryable: true });
    await until(() => stub.seen.some((line) => line.startsWith('DELETE') && line.includes('uploadId')));
    await stub.stop();
  });

  test('a server that takes no more is given up after the deadline', async () => {
    const stub = createStubS3({ part: () => new Promise<Response>(() => undefined) });
    const request = { ...putOf(Buffer.from('')), bytes: megabytes(30), estimate: 30 * MIB };
    const failure = await failureOf(backupsOver(options(stub.endpoint)).put(newName(), request));
    expect(failure).toMatchObject({ retryable: true });
    expect(failure.message).toContain('did nothing for');
    await stub.stop();
  });

  test('a server that does not answer is given up after the deadline, three times', async () => {
    const stub = createStubS3({ other: () => new Promise<Response>(() => undefined) });
    const failure = await failureOf(backupsOver(options(stub.endpoint)).find(newName()));
    expect(failure).toMatchObject({ retryable: true });
    expect(failure.message).toContain('did nothing for');
    await stub.stop();
  });

  test('a call that failed for a moment is made again', async () => {
    let calls = 0;
    const stub = createStubS3({
      other: () => {
        calls += 1;
        return calls < 3
          ? new Response(errorOf('SlowDown'), { status: 503 })
          : new Response(errorOf('NoSuchKey'), { status: 404 });
      },
    });
    expect(await backupsOver(options(stub.endpoint)).find(newName())).toBeUndefined();
    expect(calls).toBe(3);
    await stub.stop();
  });

  test('a source that lets the server wait is not taken for a silent server', async () => {
    const stub = createStubS3({});
    const slow = async function* (): Bytes {
      yield randomBytes(MIB);
      await Bun.sleep(900);
      throw new Error('the source died');
    };
    const request = { ...putOf(Buffer.from('')), bytes: slow() };
    expect(await backupsOver(options(stub.endpoint)).put(newName(), request).catch(String)).toContain(
      'the source died',
    );
    await stub.stop();
  });

  test('cancelling ends an upload that the server holds up, at once', async () => {
    const stub = createStubS3({ part: () => new Promise<Response>(() => undefined) });
    const cancel = new AbortController();
    const backups = backupsOver({ ...options(stub.endpoint), silenceMs: 60_000 });
    const request = { ...putOf(Buffer.from(''), cancel.signal), bytes: megabytes(30), estimate: 30 * MIB };
    const putting = backups.put(newName(), request).catch(String);
    await stub.firstPart;
    cancel.abort(new Error('cancelled by the user'));
    expect(await putting).toContain('cancelled by the user');
    await stub.stop();
  });
});

const PLACE = { region: 'us-east-1', bucket: 'b', accessKeyId: 'a', secretAccessKey: 's' };
const errorOf = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;

describe('pure parts', () => {
  test('a part is as large as a file of the expected size needs', () => {
    expect(partSizeFor(undefined)).toBe(16 * MIB);
    expect(partSizeFor(0)).toBe(5 * MIB);
    expect(partSizeFor(40 * 1024 * MIB)).toBe(5 * MIB);
    const terabyte = 1024 * 1024 * MIB;
    expect(Math.ceil(terabyte / partSizeFor(terabyte))).toBeLessThanOrEqual(10_000);
  });

  test('signs as the example of AWS does', () => {
    // https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, "GET Bucket Lifecycle"
    const headers = signedHeaders({
      method: 'GET',
      url: new URL('https://examplebucket.s3.amazonaws.com/?lifecycle'),
      region: 'us-east-1',
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      now: Date.parse('2013-05-24T00:00:00Z'),
    });
    expect(headers['authorization']).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    );
  });

  test('reads a page of unfinished uploads, and where the next begins', () => {
    const xml = `<?xml version="1.0" encoding="UTF-8"?><ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Bucket>b</Bucket>
      <NextKeyMarker>k2</NextKeyMarker><NextUploadIdMarker>u2</NextUploadIdMarker><IsTruncated>true</IsTruncated>
      <Upload><Key>berth/a &amp; b</Key><UploadId>u1</UploadId><Initiated>2026-03-04T00:00:00.000Z</Initiated></Upload>
      <Upload><Key>k2</Key><UploadId>u2</UploadId><Initiated>never</Initiated></Upload></ListMultipartUploadsResult>`;
    expect(parsePage(xml)).toEqual({
      uploads: [
        { key: 'berth/a & b', id: 'u1', begun: Date.parse('2026-03-04T00:00:00.000Z') },
        { key: 'k2', id: 'u2', begun: Number.POSITIVE_INFINITY },
      ],
      next: { 'key-marker': 'k2', 'upload-id-marker': 'u2' },
    });
  });

  test('of an answer only the code is repeated', () => {
    const thrown = Object.assign(new Error('AWSAccessKeyId=MARKER StringToSign=MARKER'), {
      code: 'SignatureDoesNotMatch',
    });
    const failure = s3Failure({ endpoint: 'https://s3.example', bucket: 'b' }, 'list objects', thrown);
    expect(Bun.inspect(failure)).not.toContain('MARKER');
    expect(failure.message).toBe(
      'cannot list objects in bucket "b": https://s3.example refuses the secret key (SignatureDoesNotMatch)',
    );
    expect(codeOf('no error')).toBe('');
  });

  test.each(['ftp://host', 'host', 'https://user:pass@host', 'https://host/bucket', 'https://host?x=1', ''])(
    'the endpoint %p is refused',
    (endpoint) => {
      expect(() => createS3Place(s3Options({ ...PLACE, endpoint } as S3Server))).toThrow('backup_s3_endpoint');
    },
  );

  test.each(['../x', 'a/../b', 'a//b', './a', 'a b', 'ä'])('the prefix %p is refused', (prefix) => {
    const server = { ...PLACE, endpoint: 'https://host' } as S3Server;
    expect(() => createS3Place(s3Options(server, { prefix }))).toThrow('backup_s3_prefix');
  });
});
