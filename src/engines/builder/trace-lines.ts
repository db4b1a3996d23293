import { colouredText, plainText } from '#kernel/terminal';

/** A line longer than this is given out in pieces, so that output without line ends cannot fill the memory. */
const LONGEST_LINE = 16 * 1024;

/** Turns the chunks of one output stream into lines fit for a log: colours stay, nothing else that acts on a terminal does. */
export interface LineSplitter {
  push(chunk: Uint8Array): void;
  /** Gives out what is left without a line end. */
  end(): void;
}

export const createLineSplitter = (onLine: (line: string) => void): LineSplitter => {
  const decoder = new TextDecoder();
  let rest = '';

  const take = (text: string): void => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) give(line);
    rest = dropOverwritten(rest);
    while (rest.length > LONGEST_LINE) {
      const end = LONGEST_LINE - openEscape(rest.slice(0, LONGEST_LINE));
      give(rest.slice(0, end));
      rest = rest.slice(end);
    }
  };
  const give = (raw: string): void => {
    const line = colouredText(dropOverwritten(raw)).trimEnd();
    if (line.length <= LONGEST_LINE) return onLine(line);
    // So long a line is cut, and a cut may not go through a colour.
    const text = plainText(line);
    for (let at = 0; at === 0 || at < text.length; at += LONGEST_LINE) onLine(text.slice(at, at + LONGEST_LINE));
    return undefined;
  };

  return {
    push: (chunk) => take(decoder.decode(chunk, { stream: true })),
    end: () => {
      take(decoder.decode());
      if (rest !== '') give(rest);
      rest = '';
    },
  };
};

/** What a terminal would show of a line: progress that overwrote itself is reduced to its last state. */
const dropOverwritten = (text: string): string => {
  const end = text.replace(/\r+$/, '').length;
  const start = text.lastIndexOf('\r', end - 1) + 1;
  return start === 0 ? text : text.slice(start);
};

/** Characters at the end that begin an escape sequence and go on behind it. */
const openEscape = (text: string): number => {
  // oxlint-disable-next-line no-control-regex
  const length = /\u001B(?:\[[0-?]{0,64}[ -/]*)?$/.exec(text.slice(-80))?.[0].length;
  return length ?? 0;
};
