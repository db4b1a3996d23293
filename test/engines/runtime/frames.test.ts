import { expect, test } from 'bun:test';
import { splitFrames } from '#engines/runtime/frames';

const frame = (kind: number, text: string): Buffer => {
  const header = Buffer.alloc(8);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
};

const cut = async function* (bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
};

const joined = async (chunks: AsyncIterable<Uint8Array>): Promise<string[]> => {
  const said: string[] = [];
  let last = '';
  for await (const { stream, data } of splitFrames(chunks)) {
    const text = Buffer.from(data).toString();
    if (stream === last) said.push(`${said.pop() ?? ''}${text}`);
    else said.push(`${stream}:${text}`);
    last = stream;
  }
  return said;
};

test('frames come out the same however the chunks are cut', async () => {
  const bytes = Buffer.concat([frame(1, 'one'), frame(2, ''), frame(2, 'two two'), frame(1, 'x'.repeat(300))]);
  for (let size = 1; size <= bytes.length; size += 1) {
    expect(await joined(cut(bytes, size))).toEqual(['stdout:one', 'stderr:two two', `stdout:${'x'.repeat(300)}`]);
  }
});

test('a part of a frame is passed on before the rest of it comes', async () => {
  const chunks = splitFrames(cut(frame(1, 'x'.repeat(100_000)), 1000));
  const first = await chunks.next();
  expect(first.value).toMatchObject({ stream: 'stdout', data: { length: 992 } });
});

test('a stream that breaks off, or that is no such stream, is an error', async () => {
  const bytes = frame(1, 'one');
  expect(await joined(cut(bytes.subarray(0, -1), 100)).catch(String)).toContain('broke off');
  expect(await joined(cut(bytes.subarray(0, 5), 100)).catch(String)).toContain('broke off');
  expect(await joined(cut(Buffer.from('HTTP/1.1 200 OK'), 100)).catch(String)).toContain('not multiplexed');
});
