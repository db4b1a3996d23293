import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { BerthError, messageOf } from '#kernel/errors';
import { END, type Entry, type Lab, openLab, padded, paxHeader, rawHeader, tarGz } from './support.ts';

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.close());

const app: Entry = { name: 'app.js', content: 'ok' };

describe('an archive is refused, and the data directory stays as it was, when it has', () => {
  const cases: [string, Entry[], RegExp][] = [
    ['an absolute path', [app, { name: '/etc/cron.d/x', content: 'x' }], /"\/etc\/cron.d\/x" has an absolute path/],
    ['a path with ..', [app, { name: '../../secret.key', content: 'x' }], /has "\.\." in its path/],
    ['a path with .. in its midst', [app, { name: 'a/b/../../../x', content: 'x' }], /has "\.\." in its path/],
    ["a path into another app's directory", [{ name: '../../op_2/src/app.js', content: 'x' }], /has "\.\."/],
    ['a directory with ..', [app, { name: '..', type: 'directory' }], /has "\.\." in its path/],
    ['a symlink to an absolute path', [app, { name: 'l', type: 'symlink', linkname: '/etc/passwd' }], /absolute path/],
    [
      'a symlink that leaves the root',
      [app, { name: 'a/l', type: 'symlink', linkname: '../../secret.key' }],
      /leaves the source/,
    ],
    [
      'a symlink that leaves the root through another one',
      [
        { name: 'a/b/up', type: 'symlink', linkname: '../..' },
        { name: 'z', type: 'symlink', linkname: 'a/b/up/..' },
      ],
      /"z" is a link that leaves/,
    ],
    [
      'a symlink loop',
      [
        { name: 'a', type: 'symlink', linkname: 'b/x' },
        { name: 'b', type: 'symlink', linkname: 'a/x' },
      ],
      /too many links/,
    ],
    [
      'a file written through a symlink',
      [
        { name: 'd', type: 'symlink', linkname: '.' },
        { name: 'd/x', content: 'x' },
      ],
      /would be written through the link "d"/,
    ],
    [
      'a file over a symlink',
      [
        { name: 'x', type: 'symlink', linkname: 'app.js' },
        { name: 'x', content: 'x' },
      ],
      /would be written through a link/,
    ],
    [
      'a file through a symlink in the place of a directory',
      [
        { name: 'd', type: 'directory' },
        { name: 'd', type: 'symlink', linkname: '..' },
        { name: 'd/x', content: 'x' },
      ],
      /is a dir before and a link later/,
    ],
    ['a hard link out', [app, { name: 'h', type: 'link', linkname: '../../secret.key' }], /has "\.\." in its path/],
    ['an absolute hard link', [app, { name: 'h', type: 'link', linkname: '/etc/passwd' }], /absolute path/],
    [
      'a hard link through a symlink',
      [
        { name: 'l', type: 'symlink', linkname: 'app.js' },
        { name: 'h', type: 'link', linkname: 'l' },
      ],
      /hard link to something that is no file/,
    ],
    ['a hard link to nothing', [{ name: 'h', type: 'link', linkname: 'missing' }], /no file of the archive/],
    [
      'a character device',
      [app, { name: 'null', type: 'character-device', devmajor: 1, devminor: 3 }],
      /character-device/,
    ],
    ['a block device', [app, { name: 'sda', type: 'block-device', devmajor: 8, devminor: 0 }], /block-device/],
    ['a FIFO', [app, { name: 'pipe', type: 'fifo' }], /fifo/],
    [
      'a directory in the place of a file',
      [
        { name: 'x', content: 'x' },
        { name: 'x', type: 'directory' },
      ],
      /is a file before and a dir later/,
    ],
    [
      'a file in the place of a directory',
      [
        { name: 'x/y', content: 'x' },
        { name: 'x', content: 'x' },
      ],
      /is a dir before and a file later/,
    ],
    [
      'a file below a file',
      [
        { name: 'x', content: 'x' },
        { name: 'x/y', content: 'x' },
      ],
      /lies below the file "x"/,
    ],
    ['a path that is too deep', [{ name: `${'d/'.repeat(101)}x`, content: 'x' }], /deeper than 100/],
    ['a path that is too long', [{ name: `${'d'.repeat(200)}/`.repeat(20), content: 'x' }], /over 2048 bytes/],
    ['a name that is too long', [{ name: 'd'.repeat(256), content: 'x' }], /over 255 bytes/],
    ['no files', [{ name: 'd', type: 'directory' }], /has no files/],
    ['nothing', [], /has no files/],
    ['nothing but what is always excluded', [{ name: 'node_modules/x', content: 'x' }], /has no files/],
    ['a file in the place of the root', [{ name: './.', content: 'x' }], /stands for the root/],
  ];
  test.each(cases)('%s', async (_what, entries, message) => {
    const error = await lab.refusal(await tarGz(entries));
    expect(error.kind).toBe('INVALID_INPUT');
    expect(error.message).toMatch(message);
    expect(error.hint).not.toBe('');
  });
});

describe('an archive is refused when its raw headers have', () => {
  const archive = (...blocks: Buffer[]): Buffer => gzipSync(Buffer.concat([...blocks, END]));
  const file = (name: string): Buffer => Buffer.concat([rawHeader({ name, type: '0', size: 1 }), padded('x')]);

  const cases: [string, Buffer, RegExp][] = [
    [
      'a PAX path that leaves the root',
      archive(paxHeader({ path: '../../secret.key' }), file('harmless')),
      /has "\.\."/,
    ],
    ['an absolute PAX path', archive(paxHeader({ path: '/etc/x' }), file('harmless')), /absolute path/],
    ['a PAX path with a NUL byte', archive(paxHeader({ path: 'a\0b' }), file('harmless')), /NUL byte/],
    [
      'a PAX link target that leaves the root',
      archive(paxHeader({ linkpath: '/etc/passwd' }), rawHeader({ name: 'l', type: '2', linkname: 'harmless' })),
      /absolute path/,
    ],
    [
      'a global PAX path that leaves the root',
      archive(paxHeader({ path: '../x' }, 'g'), paxHeader({ comment: 'x' }), file('harmless')),
      /has "\.\."/,
    ],
    [
      'a GNU long name that leaves the root',
      archive(
        rawHeader({ name: '././@LongLink', type: 'L', size: 17 }),
        padded('../../secret.key\0'),
        file('harmless'),
      ),
      /has "\.\."/,
    ],
    ['a GNU sparse file', archive(rawHeader({ name: 'sparse', type: 'S' })), /of the kind "unknown"/],
    ['a symlink without a target', archive(rawHeader({ name: 'l', type: '2' })), /without a usable target/],
    ['a broken checksum', gzipSync(Buffer.concat([Buffer.alloc(512, 'A'), END])), /not a complete gzipped tar/],
    ['a negative size', archive(Buffer.from(file('x')).fill(0xff, 124, 136)), /not a complete gzipped tar/],
  ];
  test.each(cases)('%s', async (_what, bytes, message) => {
    const error = await lab.refusal(bytes);
    expect(error.kind).toBe('INVALID_INPUT');
    expect(error.message).toMatch(message);
  });
});

describe('an archive is refused when it is', () => {
  test('no gzip', async () => {
    const error = await lab.refusal(Buffer.from('PK\x03\x04 a zip file'));
    expect(error).toMatchObject({ kind: 'INVALID_INPUT', message: 'the source is not gzipped' });
  });

  test('empty', async () => {
    expect((await lab.refusal(Buffer.alloc(0))).kind).toBe('INVALID_INPUT');
  });

  test('gzip of something else', async () => {
    expect((await lab.refusal(gzipSync('hello '.repeat(500)))).message).toContain('not a complete gzipped tar');
  });

  test('cut off in the gzip stream, at any place', async () => {
    const whole = await tarGz([{ name: 'a', content: Buffer.from(crypto.getRandomValues(new Uint8Array(4000))) }]);
    for (const part of [1, 5, 12, 600, 2000, whole.byteLength - 9, whole.byteLength - 1]) {
      const error = await lab.refusal(whole.subarray(0, part));
      expect([part, error.kind]).toEqual([part, 'INVALID_INPUT']);
    }
  });

  test('cut off in the tar, though the gzip stream is whole', async () => {
    const half = Buffer.concat([rawHeader({ name: 'a', type: '0', size: 4000 }), Buffer.alloc(1000)]);
    expect((await lab.refusal(gzipSync(half))).kind).toBe('INVALID_INPUT');
  });

  test('bit-flipped', async () => {
    const bytes = await tarGz([{ name: 'a', content: Buffer.from(crypto.getRandomValues(new Uint8Array(4000))) }]);
    bytes[2000] = (bytes[2000] ?? 0) ^ 0xff;
    expect((await lab.refusal(bytes)).kind).toBe('INVALID_INPUT');
  });
});

describe('a bomb is stopped', () => {
  test('by its size', async () => {
    const bytes = await tarGz([{ name: 'zeros', content: Buffer.alloc(3_000_000) }]);
    const error = await lab.refusal(bytes, { limits: { bytes: 1_000_000 } });
    expect(error).toMatchObject({ kind: 'INVALID_INPUT', message: 'the archive unpacks to more than 1000000 bytes' });
  });

  test('by its ratio', async () => {
    const bytes = await tarGz([{ name: 'zeros', content: Buffer.alloc(80 * 1024 * 1024) }]);
    const error = await lab.refusal(bytes);
    expect(error.message).toBe('the archive unpacks to more than 200 times its size');
  });

  test('by its number of entries', async () => {
    const entries = Array.from({ length: 101 }, (_none, index) => ({ name: `f${index}`, content: '' }));
    const error = await lab.refusal(await tarGz(entries), { limits: { entries: 100 } });
    expect(error.message).toBe('the archive has more than 100 entries');
  });

  test('by its number of entries, when these are excluded ones', async () => {
    const entries = Array.from({ length: 101 }, (_none, index) => ({ name: `node_modules/f${index}`, content: '' }));
    const error = await lab.refusal(await tarGz(entries), { limits: { entries: 100 } });
    expect(error.message).toBe('the archive has more than 100 entries');
  });

  test('by the copies that its hard links make in a build', async () => {
    const links = Array.from({ length: 20 }, (_none, index): Entry => ({
      name: `l${index}`,
      type: 'link',
      linkname: 'big',
    }));
    const bytes = await tarGz([{ name: 'big', content: Buffer.alloc(100_000) }, ...links]);
    const error = await lab.refusal(bytes, { limits: { bytes: 1_000_000 } });
    expect(error.message).toBe('the archive unpacks to more than 1000000 bytes');
  });

  test('by its number of symlinks', async () => {
    const entries = Array.from({ length: 10_001 }, (_none, index): Entry => ({
      name: `l${index}`,
      type: 'symlink',
      linkname: 'x',
    }));
    expect((await lab.refusal(await tarGz(entries))).message).toContain('over 10000 symbolic links');
  });

  test('by the time that it takes', async () => {
    let now = 0;
    const clock = { now: () => 0, monotonic: () => (now += 100), sleep: () => Promise.resolve() };
    const entries = Array.from({ length: 100 }, (_none, index) => ({ name: `f${index}`, content: '' }));
    const error = await lab.refusal(await tarGz(entries), { clock, limits: { milliseconds: 5000 } });
    expect(error).toMatchObject({ kind: 'TIMEOUT', retryable: true });
  });
});

test('a random archive is unpacked inside its directory or refused, and never harms anything else', async () => {
  const random = seeded(20261121);
  const names = [
    'a',
    'b',
    'a/b',
    'a/../b',
    '../x',
    '/abs',
    'c/d/e',
    'l',
    'l/x',
    './a',
    '.',
    'node_modules/y',
    'a//b',
    '',
  ];
  const targets = ['a', '../a', 'b', '..', '.', '/etc/passwd', 'a/../..', 'l', 'c/d', '../../secret.key'];
  const types = ['file', 'file', 'file', 'directory', 'symlink', 'link', 'fifo'] as const;
  let accepted = 0;
  for (let round = 0; round < 300; round += 1) {
    const entries = Array.from({ length: 1 + random(4) }, (): Entry => {
      const type = types[random(types.length)] ?? 'file';
      const name = names[random(names.length)] ?? 'a';
      if (type === 'file') return { name, content: 'x'.repeat(random(700)), mode: random(0o10000) };
      return { name, type, linkname: targets[random(targets.length)] ?? 'a' };
    });
    const bytes = await tarGz(entries);
    // Damage some: the parser must not fall over either.
    if (random(5) === 0) bytes[random(bytes.byteLength)] = random(256);
    const one = await openLab();
    const before = await one.surroundings();
    const outcome: string = await one.unpack(bytes).then(
      () => 'accepted',
      (thrown: unknown) => (thrown instanceof BerthError ? thrown.kind : messageOf(thrown)),
    );
    expect(['accepted', 'INVALID_INPUT']).toContain(outcome);
    expect(await one.surroundings()).toEqual(before);
    if (outcome === 'accepted') {
      accepted += 1;
      expect(await one.escapes()).toEqual([]);
    }
    await one.close();
  }
  expect(accepted).toBeGreaterThan(10);
});

/** A small generator with a fixed start, so that a failure can be repeated. */
const seeded = (start: number): ((below: number) => number) => {
  let state = start;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};
