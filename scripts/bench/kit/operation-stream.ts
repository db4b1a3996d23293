import type { Berth } from '#test/support/berth.ts';

/** What a 202 says of the operation that it began. */
export interface Begun {
  operation_id: string;
  stream_url: string;
}

/** Begins an operation. */
export const begin = async (berth: Berth, path: string, body?: unknown, method = 'POST'): Promise<Begun> => {
  const reply = await berth.api(path, { method, ...(body === undefined ? {} : { body }) });
  if (reply.status !== 202) throw new Error(`${method} ${path} was refused: ${JSON.stringify(reply.body)}`);
  return reply.body;
};

/**
 * Follows an operation to its end, or to the phase `until`: the milliseconds from `since` to each phase as a client saw it,
 * the last of them `done`. Fails when the operation did.
 */
export const followPhases = async (
  berth: Berth,
  operation: Begun,
  { since, until = 'done' }: { since: number; until?: string },
): Promise<Map<string, number>> => {
  const response = await fetch(new URL(operation.stream_url, berth.url), {
    headers: { authorization: `Bearer ${berth.token}` },
  });
  if (response.body === null) throw new Error('the operation has no stream');
  const phases = new Map<string, number>();
  for await (const { event, data } of readFrames(response.body)) {
    const now = performance.now() - since;
    if (event === 'phase') phases.set(String(data['phase']), now);
    if (event === 'done') {
      if (data['status'] !== 'succeeded') throw new Error(`an operation failed: ${JSON.stringify(data['error'])}`);
      phases.set('done', now);
    }
    if (phases.has(until)) return phases;
  }
  throw new Error('the stream of an operation broke off');
};

interface Frame {
  event: string;
  data: Record<string, unknown>;
}

async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const found = /^event: (?<event>\w+)\ndata: (?<data>.*)$/m.exec(frame)?.groups;
      if (found !== undefined) yield { event: found['event'] ?? '', data: JSON.parse(found['data'] ?? '{}') };
    }
  }
}

/** When a phase was seen; fails when it was not. */
export const at = (phases: ReadonlyMap<string, number>, phase: string): number => {
  const found = phases.get(phase);
  if (found === undefined) throw new Error(`the operation had no phase ${phase}`);
  return found;
};
