import { describe, expect, test } from 'bun:test';
import { acceptedCodings, selectPart } from '#http/representation';

const FILE = { etag: '"v1"', bytes: 100 };
const select = (headers: Record<string, string>) => selectPart(new Headers(headers), FILE);

describe('conditions', () => {
  test.each(['"v1"', 'W/"v1"', '"v0", "v1"', '*'])('If-None-Match %s: nothing new', (value) => {
    expect(select({ 'if-none-match': value })).toEqual({ status: 304 });
  });

  test.each(['"v2"', 'v1', ''])('If-None-Match %p: everything', (value) => {
    expect(select({ 'if-none-match': value })).toEqual({ status: 200 });
  });

  test('If-None-Match wins over Range', () => {
    expect(select({ 'if-none-match': '"v1"', range: 'bytes=0-1' })).toEqual({ status: 304 });
  });

  test('If-Range gives the range of the same file only', () => {
    expect(select({ range: 'bytes=10-', 'if-range': '"v1"' })).toEqual({ status: 206, range: { start: 10, end: 100 } });
    for (const value of ['"v2"', 'W/"v1"', 'Wed, 21 Oct 2026 07:28:00 GMT'])
      expect(select({ range: 'bytes=10-', 'if-range': value })).toEqual({ status: 200 });
  });
});

describe('ranges', () => {
  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=10-19', 10, 20],
    ['bytes=90-', 90, 100],
    ['bytes=-5', 95, 100],
    ['bytes=-500', 0, 100],
    ['bytes=99-1000', 99, 100],
  ])('%s', (range, start, end) => {
    expect(select({ range })).toEqual({ status: 206, range: { start, end } });
  });

  test.each(['bytes=0-1,5-6', 'lines=1-2', 'bytes=5-2', 'bytes=-', 'bytes=a-b', 'bytes=1e3-', 'bytes=--1'])(
    '%s is none that is understood: everything',
    (range) => {
      expect(select({ range })).toEqual({ status: 200 });
    },
  );

  test.each(['bytes=100-', 'bytes=100-200', 'bytes=-0', 'bytes=999999999999999-'])('%s is behind the end', (range) => {
    expect(select({ range })).toEqual({ status: 416 });
  });
});

describe('codings', () => {
  const offered = ['zstd', 'gzip'] as const;

  test.each([
    ['gzip', ['gzip']],
    ['gzip, deflate, br, zstd', ['zstd', 'gzip']],
    ['gzip;q=1.0, zstd;q=0.5', ['gzip', 'zstd']],
    ['GZIP', ['gzip']],
    ['gzip;q=0', []],
    ['gzip;q=x', []],
    ['identity', []],
    ['*', []],
    ['', []],
  ])('%p', (header, expected) => {
    expect(acceptedCodings(header, offered)).toEqual(expected as ('zstd' | 'gzip')[]);
  });

  test('without the header nothing is coded', () => {
    expect(acceptedCodings(null, offered)).toEqual([]);
  });
});
