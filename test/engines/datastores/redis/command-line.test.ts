import { describe, expect, test } from 'bun:test';
import { quoteBytes, splitCommandLine } from '#engines/datastores/redis/command-line';
import { refusalOf } from '#engines/datastores/redis/refusals';

const words = (line: string): string[] => splitCommandLine(line).map((word) => word.toString('latin1'));

describe('a command line', () => {
  test.each([
    ['GET key', ['GET', 'key']],
    ['  GET\tkey \n', ['GET', 'key']],
    ['SET a ""', ['SET', 'a', '']],
    ['SET a "b c"', ['SET', 'a', 'b c']],
    [String.raw`SET a "\x00\xfF\n\r\t\b\a\q\"\\"`, ['SET', 'a', '\0\xff\n\r\t\b\x07q"\\']],
    [String.raw`SET a 'it\'s \n "so"'`, ['SET', 'a', String.raw`it's \n "so"`]],
    [String.raw`SET a "\xzz"`, ['SET', 'a', 'xzz']],
    [String.raw`SET a\x41 b;c`, ['SET', String.raw`a\x41`, 'b;c']],
    ['SET pre"fix"', ['SET', 'prefix']],
    ['SET a "two\nlines"', ['SET', 'a', 'two\nlines']],
  ])('is taken apart as redis-cli does: %j', (line, expected) => {
    expect(words(line)).toEqual(expected);
  });

  test('keeps text as UTF-8', () => {
    expect(splitCommandLine('GET "schlüssel-🗝"')[1]?.toString()).toBe('schlüssel-🗝');
  });

  test.each(['GET "a', "GET 'a", 'GET "a"b', 'GET "a\\', '', ' \n ', 'GET a\nDEL b', 'GET a\r\nFLUSHALL'])(
    'is refused with a hint when it is not one whole command: %j',
    (line) => {
      expect(() => splitCommandLine(line)).toThrow(expect.objectContaining({ kind: 'INVALID_INPUT' }));
    },
  );

  test('takes bytes back as they are written', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    expect(splitCommandLine(`GET ${quoteBytes(bytes)}`)[1]).toEqual(bytes);
  });
});

describe('a console', () => {
  const refusal = (line: string): string | undefined => refusalOf(splitCommandLine(line))?.hint;

  test.each([
    'config get dir',
    'DEBUG SLEEP 1',
    'module load x',
    'ACL WHOAMI',
    'shutdown nosave',
    'SAVE',
    'bgsave',
    'MONITOR',
    'SUBSCRIBE a',
    'PSUBSCRIBE *',
    'BLPOP a 0',
    'BRPOPLPUSH a b 0',
    'WAIT 1 0',
    'MULTI',
    'EXEC',
    'WATCH a',
    'SELECT 1',
    'AUTH x',
    'HELLO 3',
    'RESET',
    'QUIT',
    'CLIENT PAUSE 1000',
    'KEYS *',
    'REPLICAOF h 1',
    'SYNC',
    'MIGRATE',
    'XREAD BLOCK 0 STREAMS s $',
    'xread count 1 block 0 streams s $',
    'XREADGROUP GROUP g STREAMS BLOCK 0 STREAMS s >',
    'XREADGROUP BLOCK 1 GROUP g c STREAMS s >',
  ])('refuses %s and says what to do instead', (line) => {
    expect(refusal(line)).toBeString();
  });

  test.each([
    'GET CONFIG',
    'XREAD STREAMS BLOCK 0',
    'XREADGROUP GROUP BLOCK c STREAMS s >',
    'XREAD COUNT BLOCK STREAMS s 0',
  ])('sends %s', (line) => {
    expect(refusal(line)).toBeUndefined();
  });
});
