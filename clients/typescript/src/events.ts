/** One server-sent event with JSON data. */
export interface StreamEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** Reads server-sent events (WHATWG HTML, 9.2.6) off a reply. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true }).replaceAll('\r', '');
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = parse(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    // Whoever stops reading early closes the connection by it.
    await reader.cancel().catch(() => undefined);
  }
}

/** Undefined for comments, which keep the connection open. */
const parse = (block: string): StreamEvent | undefined => {
  const fields: Record<string, string> = { id: '', event: 'message' };
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^([a-z]+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name !== undefined)
      fields[name] = name === 'data' && fields['data'] !== undefined ? `${fields['data']}\n${value}` : value;
  }
  if (fields['data'] === undefined) return undefined;
  return {
    id: fields['id'] ?? '',
    event: fields['event'] ?? '',
    data: JSON.parse(fields['data']) as StreamEvent['data'],
  };
};
