import { atEnd } from '#test/support/preload.ts';

export interface SseEvent {
  id: string;
  event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on what came, field by field
  data: any;
}

export interface SseTail {
  /** The next `count` events; rejects when the stream ends or stays silent before. */
  take(count: number, withinMs?: number): Promise<SseEvent[]>;
  /** All events until the stream ends. */
  rest(withinMs?: number): Promise<SseEvent[]>;
  cancel(): Promise<void>;
}

/** Reads a reply of server-sent events. */
export const readSse = (response: Response): SseTail => {
  if (response.status !== 200 || response.body === null) throw new Error(`no stream: ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const queue: SseEvent[] = [];
  const state = { text: '', ended: false };
  atEnd(() => reader.cancel().catch(() => undefined));

  const pull = async (withinMs: number): Promise<void> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`silent for ${withinMs} ms; so far: ${JSON.stringify(queue)}`)),
        withinMs,
      );
    });
    const { done, value } = await Promise.race([reader.read(), late]).finally(() => clearTimeout(timer));
    state.ended = done;
    const parts = (state.text + (value ?? '')).split('\n\n');
    state.text = parts.pop() ?? '';
    for (const part of parts) {
      const event = parse(part);
      if (event !== undefined) queue.push(event);
    }
  };
  return {
    take: async (count, withinMs = 2000) => {
      while (queue.length < count) {
        if (state.ended) throw new Error(`the stream ended after ${queue.length} of ${count} events`);
        await pull(withinMs);
      }
      return queue.splice(0, count);
    },
    rest: async (withinMs = 2000) => {
      while (!state.ended) await pull(withinMs);
      return queue.splice(0);
    },
    cancel: () => reader.cancel(),
  };
};

const parse = (part: string): SseEvent | undefined => {
  const fields = new Map(
    part
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  const event = fields.get('event');
  if (event === undefined) return undefined;
  return { id: fields.get('id') ?? '', event, data: JSON.parse(fields.get('data') ?? 'null') };
};
