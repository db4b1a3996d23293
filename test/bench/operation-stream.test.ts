import { expect, test } from 'bun:test';
import type { Berth } from '#test/support/berth.ts';
import { at, followPhases } from '../../scripts/bench/kit/operation-stream.ts';

const frame = (event: string, data: unknown): string => `id: 1\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

const streamOf = (pieces: string[]): ReadableStream<string> =>
  new ReadableStream({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

/** A server that sends these pieces of a stream. */
const serving = async (pieces: string[], work: (berth: Berth) => unknown): Promise<void> => {
  const server = Bun.serve({
    port: 0,
    fetch: () => new Response(streamOf(pieces)),
  });
  try {
    await work({ url: server.url.href, token: 't' } as Berth);
  } finally {
    await server.stop(true);
  }
};

const OPERATION = { operation_id: 'op_1', stream_url: '/stream' };

test('phases are seen in their order, however the stream is cut', async () => {
  const text = [
    frame('phase', { phase: 'dumping' }),
    frame('log', { line: 'event: phase' }),
    frame('phase', { phase: 'verifying' }),
    frame('done', { status: 'succeeded' }),
  ].join('');
  await serving([text.slice(0, 30), text.slice(30, 90), text.slice(90)], async (berth) => {
    const phases = await followPhases(berth, OPERATION, { since: performance.now() });
    expect([...phases.keys()]).toEqual(['dumping', 'verifying', 'done']);
    expect(at(phases, 'dumping')).toBeLessThanOrEqual(at(phases, 'done'));
    expect(() => at(phases, 'swapping')).toThrow('no phase swapping');
  });
});

test('one that failed, or whose stream breaks off, is an error and no figure', async () => {
  const failed = frame('done', { status: 'failed', error: { message: 'no room' } });
  await serving([failed], (berth) => expect(followPhases(berth, OPERATION, { since: 0 })).rejects.toThrow('no room'));
  const begun = frame('phase', { phase: 'dumping' });
  await serving([begun], (berth) => expect(followPhases(berth, OPERATION, { since: 0 })).rejects.toThrow('broke off'));
  await serving([begun], async (berth) => {
    const phases = await followPhases(berth, OPERATION, { since: 0, until: 'dumping' });
    expect([...phases.keys()]).toEqual(['dumping']);
  });
});
