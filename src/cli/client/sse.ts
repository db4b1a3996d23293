/** One server-sent event. */
export interface SseEvent {
  id: string;
  event: string;
  data: string;
}

/** Splits a byte stream into events (WHATWG HTML, 9.2.6). `onAlive` is called for every piece, comments included. */
export async function* readEvents(body: ReadableStream<Uint8Array>, onAlive: () => void): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const state = { id: '', event: '', data: [] as string[] };
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onAlive();
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const event = takeLine(state, line);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    // The connection may be broken already; the reader is given up either way.
    await reader.cancel().catch(() => undefined);
  }
}

interface Assembly {
  id: string;
  event: string;
  data: string[];
}

const takeLine = (state: Assembly, line: string): SseEvent | undefined => {
  if (line === '') return finish(state);
  const colon = line.indexOf(':');
  if (colon === 0) return undefined;
  const field = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
  if (field === 'data') state.data.push(value);
  else if (field === 'event') state.event = value;
  else if (field === 'id' && !value.includes('\0')) state.id = value;
  return undefined;
};

const finish = (state: Assembly): SseEvent | undefined => {
  const { event, data } = state;
  state.event = '';
  state.data = [];
  return data.length === 0
    ? undefined
    : { id: state.id, event: event === '' ? 'message' : event, data: data.join('\n') };
};
