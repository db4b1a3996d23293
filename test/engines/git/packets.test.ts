import { describe, expect, test } from 'bun:test';
import { FLUSH, PacketError, createPacketReader, packet, type Packet } from '#engines/git/pkt-line';
import { readPushHeader } from '#engines/git/push-header';
import { parseReport } from '#engines/git/push-report';
import { printable, progress } from '#engines/git/side-band';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const bytes = (content: string): Uint8Array => Buffer.from(content, 'latin1');

/** In pieces of `size` bytes. */
async function* pieces(whole: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}

const packetsOf = (whole: Uint8Array, size: number): string[] => {
  const reader = createPacketReader();
  const found: string[] = [];
  const show = (next: Packet): string => (next.type === 'data' ? text(next.payload) : next.type);
  for (let at = 0; at < whole.length; at += size) {
    reader.push(whole.subarray(at, at + size));
    for (let next = reader.next(); next !== undefined; next = reader.next()) found.push(show(next));
  }
  return [...found, `rest ${text(reader.rest())}`];
};

describe('packets', () => {
  test.each([1, 2, 3, 5, 7, 4096])('are the same in pieces of %p bytes', (size) => {
    const whole = Buffer.concat([
      packet('hello\n'),
      FLUSH,
      packet(''),
      bytes('0001'),
      bytes('0002'),
      packet('\0\xff'),
      bytes('00'),
    ]);
    expect(packetsOf(whole, size)).toEqual(['hello\n', 'flush', '', 'delimiter', 'end', '\0\xc3\xbf', 'rest 00']);
  });

  test.each(['0003', 'zzzz', 'fff1', 'ffff', '-001', '0x10', ' 123', 'PACK'])('have no length %p', (length) => {
    const reader = createPacketReader();
    reader.push(bytes(length));
    expect(() => reader.next()).toThrow(PacketError);
  });

  test('are no longer than git takes them', () => {
    expect(text(packet('x'.repeat(65_516))).slice(0, 5)).toBe('fff0x');
    expect(() => packet('x'.repeat(65_517))).toThrow(PacketError);
  });
});

describe('lines for a terminal', () => {
  test('are cut into packets of the second band', () => {
    const line = `${'ü'.repeat(40_000)}\n`;
    const reader = createPacketReader();
    reader.push(progress(line));
    const parts: Uint8Array[] = [];
    for (let next = reader.next(); next?.type === 'data'; next = reader.next()) {
      expect(next.payload[0]).toBe(2);
      parts.push(next.payload.subarray(1));
    }
    expect(parts.length).toBe(2);
    expect(Buffer.concat(parts).toString()).toBe(line);
  });

  test('carry no escape sequences and control characters', () => {
    expect(printable('a\x1b[31mred\x1b[0m\tb')).toBe('ared\tb');
    expect(printable('\x1b]0;title\x07x\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\')).toBe('xlink');
    expect(printable('a\bb\rc\x9b2Jd\x1bcx\x00')).toBe('a b c 2Jdx');
    expect(printable('y'.repeat(10_000)).length).toBe(8000);
  });
});

const header = (content: string, size = 4096) => readPushHeader(pieces(bytes(content), size));
const line = (content: string): string => text(packet(bytes(content)));
const failure = (content: string): Promise<string> =>
  header(content).then(
    () => 'taken',
    (thrown: Error) => thrown.message,
  );

describe('the beginning of a push', () => {
  const caps = '\0 report-status-v2 side-band-64k push-options agent=git/2 \n';
  const whole =
    line(`shallow ${A}\n`) +
    line(`${A} ${B} refs/heads/main${caps}`) +
    line(`${A} ${'0'.repeat(40)} refs/heads/\xc3\xbc\n`) +
    '0000' +
    line('no-wait') +
    line('a=b\n') +
    '0000PACKxyz';

  test.each([1, 3, 10, 4096])('is read in pieces of %p bytes, and what is behind stays', async (size) => {
    const body = pieces(bytes(whole), size);
    const read = await readPushHeader(body);
    expect(read.commands.map(({ ref, before, after }) => [ref, before, after])).toEqual([
      ['refs/heads/main', A, B],
      ['refs/heads/ü', A, '0'.repeat(40)],
    ]);
    expect(read.options).toEqual(['no-wait', 'a=b']);
    expect(read.capabilities.has('side-band-64k')).toBe(true);
    let rest = text(read.bytes);
    for await (const chunk of body) rest += text(chunk);
    expect(rest).toBe(whole);
  });

  test('of nothing is nothing', async () => {
    expect(await header('0000')).toMatchObject({ commands: [], options: [] });
  });

  test.each([
    ['', 'ended before'],
    [line(`${A} ${B} refs/heads/main`), 'ended before'],
    [`${line(`${A} ${B} refs/heads/main${caps}`)}0000`, 'ended before'],
    ['PACK', 'not in git'],
    [`${line('push-cert\0 x')}0000`, 'not in git'],
    [`${line(`${A} ${B}`)}0000`, 'not in git'],
    [`${line(`${A} ${B} a\nb`)}0000`, 'not in git'],
    [`${line(`${A}${'a'.repeat(24)} ${B}${'b'.repeat(24)} refs/heads/main`)}0000`, 'SHA-256'],
    [`${line(`${A} ${B} refs/x${caps}`)}0000${line('o').repeat(65)}0000`, 'more than 64 push options'],
    [`${line(`${A} ${B} refs/x${caps}`)}0000${line('o'.repeat(5000))}0000`, 'more than 4096 bytes'],
    [`${line(`${A} ${B} refs/x`).repeat(20_001)}0000`, 'more than 20000 refs'],
    [line(`shallow ${A}`).repeat(200_000), 'before the pack'],
  ])('is refused when it is wrong (%#)', async (content, message) => {
    expect(await failure(content)).toContain(message);
  });
});

test('a report names what was done and what was refused, with the options of its second version', () => {
  const report = [
    'unpack ok\n',
    'ok refs/heads/a\n',
    'option refname refs/heads/x\n',
    'option forced-update\n',
    'ng refs/heads/b non-fast-forward\n',
    'ng refs/heads/c\n',
  ];
  expect(parseReport(bytes(`${report.map(line).join('')}0000`))).toEqual({
    unpacked: 'ok',
    refs: new Map([
      ['refs/heads/a', null],
      ['refs/heads/b', 'non-fast-forward'],
      ['refs/heads/c', 'refused'],
    ]),
  });
  expect(parseReport(bytes(report.map(line).join('')))).toBeUndefined();
  expect(parseReport(bytes('0000'))).toBeUndefined();
});
