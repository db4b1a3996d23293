import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Operation } from '#modules/operations';
import { END, padded, paxHeader, rawHeader, tar, tarGz, type Entry } from '#test/engines/source/support.ts';
import { helloApp } from '#test/support/apps.ts';
import { Berth, pack } from '#test/support/berth.ts';
import { rawHttp, statusOf } from '#test/support/raw-http.ts';
import { until } from '#test/support/until.ts';

const MAX_UPLOAD = 2_000_000;

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot(['--max-upload-bytes', String(MAX_UPLOAD)]);
  await berth.project('shop');
  expect(await berth.deploy('shop', 'web', helloApp('untouched'))).toMatchObject({ status: 'succeeded' });
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

/** Every file of the data directory with its size, but for those that any request changes. */
const dataFiles = (): Record<string, number> =>
  Object.fromEntries(
    readdirSync(berth.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !/\/(berth\.db(-\w+)?|server\.log|logs\/.*)$/.test(path))
      .map((path) => [relative(berth.dataDir, path), statSync(path).size]),
  );

const deploy = async (archive: Uint8Array): Promise<Operation> => {
  const reply = await berth.uploadArchive('shop', 'web', archive);
  expect(reply.status).toBe(202);
  return berth.wait(reply.body.operation_id, 60);
};

const APP: Entry[] = [
  { name: 'Dockerfile', content: 'FROM node:24-slim\nCOPY . /app\nCMD ["node", "/app/server.js"]\n' },
  { name: 'server.js', content: 'x' },
];

const zeros = (megabytes: number): Buffer => Buffer.alloc(megabytes * 1024 * 1024);

describe('a hostile archive ends its deploy, and leaves the data directory as it was, when it has', () => {
  const CASES: [string, () => Promise<Uint8Array>, RegExp][] = [
    [
      'a path that leaves the root',
      () => tarGz([...APP, { name: '../../berth.db', content: 'x' }]),
      /"\.\." in its path/,
    ],
    [
      'an absolute path',
      () => tarGz([...APP, { name: join(berth.dataDir, 'uploads/x'), content: 'x' }]),
      /absolute path/,
    ],
    [
      'a file written through a symlink',
      () => tarGz([...APP, { name: 'd', type: 'symlink', linkname: '.' }, { name: 'd/x', content: 'x' }]),
      /would be written through the link/,
    ],
    [
      'a symlink out',
      () => tarGz([...APP, { name: 'l', type: 'symlink', linkname: '../../../berth.db' }]),
      /leaves the source/,
    ],
    ['a hard link out', () => tarGz([...APP, { name: 'h', type: 'link', linkname: '/etc/shadow' }]), /absolute path/],
    [
      'a device',
      () => tarGz([...APP, { name: 'sda', type: 'block-device', devmajor: 8, devminor: 0 }]),
      /block-device/,
    ],
    ['a FIFO', () => tarGz([...APP, { name: 'pipe', type: 'fifo' }]), /fifo/],
    [
      'a PAX path that leaves the root',
      async () =>
        gzipSync(
          Buffer.concat([
            paxHeader({ path: '../../secret.key' }),
            rawHeader({ name: 'harmless', type: '0', size: 1 }),
            padded('x'),
            END,
          ]),
        ),
      /"\.\." in its path/,
    ],
    ['a bomb of zeros', () => tarGz([...APP, { name: 'zeros', content: zeros(128) }]), /times its size/],
    ['half of an archive', async () => (await pack(helloApp('x'))).slice(0, 200), /not a complete/],
  ];

  test.each(CASES)(
    '%s',
    async (_what, archive, message) => {
      const before = dataFiles();
      const operation = await deploy(await archive());
      expect(operation).toMatchObject({ status: 'failed', phase: 'failed', error: { code: 'INVALID_INPUT' } });
      expect(operation.error?.message).toMatch(message);
      expect(dataFiles()).toEqual(before);
      expect(await berth.appText('shop', 'web')).toBe('untouched');
    },
    90_000,
  );

  test('is none: what is no gzip is refused at once', async () => {
    const reply = await berth.uploadArchive('shop', 'web', Buffer.from('GIF89a'));
    expect(reply).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
    expect(readdirSync(join(berth.dataDir, 'uploads'))).toEqual([]);
  });

  test('more entries than allowed: the API answers promptly while they are counted', async () => {
    const archive = gzipSync(await tar(Array.from({ length: 200_001 }, (_, n) => ({ name: `${n}`, content: '' }))));
    const { body } = await berth.uploadArchive('shop', 'web', archive);
    const delays: number[] = [];
    for (let open = true; open;) {
      const begun = performance.now();
      open = (await berth.api(`/v1/operations/${body.operation_id}`)).body.finished_at === null;
      delays.push(performance.now() - begun);
      await Bun.sleep(20);
    }
    expect(Math.max(...delays)).toBeLessThan(1000);
    expect((await berth.wait(body.operation_id)).error?.message).toMatch(/more than 200000 entries/);
  }, 90_000);

  test('set-user-id bits: they are gone from the image', async () => {
    const entry: Entry = { name: 'server.js', content: helloApp('plain')['server.js'] ?? '', mode: 0o6755 };
    const dockerfile = `FROM node:24-slim\nCOPY . /app\nRUN echo ${Date.now()} && stat -c 'mode %a' /app/server.js\nUSER node\nCMD ["node", "/app/server.js"]\n`;
    const operation = await deploy(await tarGz([{ name: 'Dockerfile', content: dockerfile }, entry]));
    expect(operation).toMatchObject({ status: 'succeeded', error: null });
    expect(String((await berth.api(operation.stream_url)).body)).toContain('mode 755');
  }, 90_000);
});

describe('a Dockerfile is refused that', () => {
  const CASES: [string, string, RegExp][] = [
    ['names a strange frontend', '# syntax=evil.example/frontend:1\nFROM node:24-slim\n', /evil\.example\/frontend/],
    [
      'names a strange frontend behind a shebang',
      '#!/usr/bin/env x\n#syntax = evil/frontend\nFROM node:24-slim\n',
      /evil\/frontend/,
    ],
    ['wants the network of the host', 'FROM node:24-slim\nRUN --network=host id\n', /network "host"/],
    ['wants to be insecure', 'FROM node:24-slim\nRUN --security=insecure id\n', /security mode "insecure"/],
    ['wants an ssh agent', 'FROM node:24-slim\nRUN --mount=type=ssh id\n', /ssh/],
  ];

  test.each(CASES)(
    '%s',
    async (_what, dockerfile, message) => {
      const operation = await deploy(await pack({ Dockerfile: dockerfile }));
      expect(operation).toMatchObject({
        status: 'failed',
        phase: 'failed',
        error: { code: 'INVALID_INPUT', retryable: false },
      });
      expect(operation.error?.message).toMatch(message);
    },
    60_000,
  );
});

describe('an upload beyond the limit', () => {
  const head = (more: string): string =>
    `POST /v1/projects/shop/services/web/deploys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${berth.token}\r\nContent-Type: application/gzip\r\n${more}\r\n`;

  const expectTooLarge = (answer: string): void => {
    expect(statusOf(answer)).toBe(413);
    expect(answer).toContain('"code":"SOURCE_TOO_LARGE"');
  };

  test('is refused by its length before its bytes are read', async () => {
    expectTooLarge(await rawHttp('127.0.0.1', berth.ports.api, head(`Content-Length: ${10 * 1024 ** 3}\r\n`)));
    expect(readdirSync(join(berth.dataDir, 'uploads'))).toEqual([]);
  });

  test('without a length is cut off at the limit', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    expectTooLarge(
      await rawHttp('127.0.0.1', berth.ports.api, head('Transfer-Encoding: chunked\r\n') + chunk.repeat(40)),
    );
    expect(readdirSync(join(berth.dataDir, 'uploads'))).toEqual([]);
  });

  test('as a field of a form is cut off at the limit', async () => {
    const form = new FormData();
    form.append('source', new Blob([new Uint8Array(4_000_000)]), 'source.tar.gz');
    const response = await fetch(`${berth.url}/v1/projects/shop/services/web/deploys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${berth.token}` },
      body: form,
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'SOURCE_TOO_LARGE' });
    expect(readdirSync(join(berth.dataDir, 'uploads'))).toEqual([]);
  });

  test('that is shorter than it said is refused, and nothing of it stays', async () => {
    const operations = async (): Promise<number> =>
      (await berth.api('/v1/operations?limit=200')).body.operations.length;
    const before = await operations();
    await rawHttp('127.0.0.1', berth.ports.api, `${head('Content-Length: 1000\r\n')}half`);
    await until(() => readdirSync(join(berth.dataDir, 'uploads')).length === 0);
    expect(await operations()).toBe(before);
  });
});

describe('200 uploads that come a byte at a time', () => {
  test('hold nobody up, cost little memory, and leave nothing when they vanish', async () => {
    const memory = residentMegabytes();
    const sockets = await Promise.all(Array.from({ length: 200 }, dripping));
    await until(() => readdirSync(join(berth.dataDir, 'uploads')).length === 200);
    const begun = performance.now();
    expect((await berth.api('/v1/projects/shop')).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(500);
    expect(await berth.deploy('shop', 'web', helloApp('meanwhile'))).toMatchObject({ status: 'succeeded' });
    expect(residentMegabytes() - memory).toBeLessThan(100);
    for (const socket of sockets) socket.destroy();
    await until(() => readdirSync(join(berth.dataDir, 'uploads')).length === 0);
    expect((await berth.api('/v1/health')).body.status).toBe('ok');
    expect(berth.serverLog).not.toContain('"level":"error"');
  }, 60_000);
});

const residentMegabytes = (): number => {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${berth.pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
};

const dripping = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(berth.ports.api, '127.0.0.1');
    socket.on('error', reject);
    socket.on('connect', () => {
      socket.write(
        `POST /v1/projects/shop/services/drip/deploys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${berth.token}\r\nContent-Type: application/gzip\r\nContent-Length: 1000\r\n\r\n\x1f`,
      );
      const timer = setInterval(() => socket.write('\x8b'), 500);
      socket.on('close', () => clearInterval(timer));
      resolve(socket);
    });
  });
