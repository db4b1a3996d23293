import { afterAll, expect, test } from 'bun:test';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PIPE_BYTES, widenPipe } from '#kernel/pipe-size';

const dir = mkdtempSync(join(tmpdir(), 'berth-pipe-'));
afterAll(() => rmSync(dir, { recursive: true }));

const USUAL_BYTES = 65_536;

test('a pipe that was widened takes that much more before who writes must wait', () => {
  const path = join(dir, 'pipe');
  expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    expect(writeSync(fd, Buffer.alloc(2 * PIPE_BYTES))).toBe(USUAL_BYTES);
    expect(widenPipe(fd)).toBe(true);
    expect(writeSync(fd, Buffer.alloc(2 * PIPE_BYTES))).toBe(PIPE_BYTES - USUAL_BYTES);
  } finally {
    closeSync(fd);
  }
});

test('what is no pipe stays as it is', () => {
  const fd = openSync(join(dir, 'file'), 'w');
  try {
    expect(widenPipe(fd)).toBe(false);
  } finally {
    closeSync(fd);
  }
});
