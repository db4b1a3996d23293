import { describe, expect, test } from 'bun:test';
import {
  fatalError,
  negotiateProtocolVersion,
  parameterStatus,
  readOpening,
  readyForQuery,
} from '#engines/datastores/postgres/opening';

const packet = (code: number, body = ''): Buffer => {
  const bytes = Buffer.alloc(8 + Buffer.byteLength(body));
  bytes.writeInt32BE(bytes.length, 0);
  bytes.writeInt32BE(code, 4);
  bytes.write(body, 8);
  return bytes;
};

const STARTUP = packet(3 << 16, 'user\0ann\0database\0app\0options\0-c work_mem=7MB\0\0');

describe('the beginning of a Postgres connection', () => {
  test('is awaited until its message is complete, and no byte more is taken', () => {
    for (let length = 0; length < STARTUP.length; length += 1) {
      expect(readOpening(STARTUP.subarray(0, length))).toBeUndefined();
    }
    const read = readOpening(Buffer.concat([STARTUP, Buffer.from('next')]));
    expect(read?.rest.toString()).toBe('next');
    expect(read?.opening).toEqual({
      kind: 'startup',
      minor: 0,
      parameters: new Map([
        ['user', 'ann'],
        ['database', 'app'],
        ['options', '-c work_mem=7MB'],
      ]),
    });
  });

  test('may ask for encryption, or to cancel', () => {
    expect(readOpening(packet(80_877_103))?.opening).toEqual({ kind: 'encryption' });
    expect(readOpening(packet(80_877_104))?.opening).toEqual({ kind: 'encryption' });
    const cancel = packet(80_877_102, '12345678');
    expect(readOpening(cancel)?.opening).toEqual({ kind: 'cancel', packet: cancel });
  });

  test('without an end of its parameters is read as far as it goes', () => {
    expect(readOpening(packet(3 << 16, 'user\0ann\0data'))?.opening).toMatchObject({
      parameters: new Map([['user', 'ann']]),
    });
  });

  test.each([
    ['of another protocol', packet(2 << 16)],
    ['that is longer than any', Buffer.from([0, 1, 0, 0, 0, 3, 0, 0])],
    ['of a negative length', Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 3, 0, 0])],
    ['of TLS at once', Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1])],
    ['of HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ])('%s is refused', (_what, bytes) => {
    expect(() => readOpening(bytes)).toThrow(expect.objectContaining({ kind: 'INVALID_INPUT' }));
  });
});

test('the answers are the bytes of the protocol', () => {
  expect(readyForQuery().toString('latin1')).toBe('Z\0\0\0\x05I');
  expect(parameterStatus('a', 'b').toString('latin1')).toBe('S\0\0\0\x08a\0b\0');
  expect(negotiateProtocolVersion(['_pq_.x']).toString('latin1')).toBe('v\0\0\0\x13\0\x03\0\0\0\0\0\x01_pq_.x\0');
  expect(fatalError({ code: '08P01', message: 'no', hint: 'yes' }).toString('latin1')).toBe(
    'E\0\0\0\x23SFATAL\0VFATAL\0C08P01\0Mno\0Hyes\0\0',
  );
});
