export interface SseEvent {
  id: string;
  event: string;
  data: string;
}

/** Takes a stream of server-sent events apart, as the HTML standard says, as far as berth sends them. */
export const createSseParser = (onEvent: (event: SseEvent) => void): ((text: string) => void) => {
  let rest = '';
  let event = '';
  let id = '';
  let data: string[] = [];
  const line = (text: string): void => {
    if (text === '') {
      if (data.length > 0) onEvent({ id, event: event === '' ? 'message' : event, data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? '' : text.slice(colon + (text[colon + 1] === ' ' ? 2 : 1));
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
  };
  return (text) => {
    rest += text;
    let from = 0;
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n', from)) {
      line(rest.slice(from, rest[end - 1] === '\r' ? end - 1 : end));
      from = end + 1;
    }
    rest = rest.slice(from);
  };
};
