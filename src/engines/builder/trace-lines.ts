/** A line longer than this is given out in pieces, so that output without line ends cannot fill the memory. */
const LONGEST_LINE = 16 * 1024;

/** Turns the chunks of one output stream into lines fit for a log. */
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
      give(rest.slice(0, LONGEST_LINE));
      rest = rest.slice(LONGEST_LINE);
    }
  };
  const give = (raw: string): void => {
    const line = clean(raw);
    for (let at = 0; at === 0 || at < line.length; at += LONGEST_LINE) onLine(line.slice(at, at + LONGEST_LINE));
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

// Control characters but the tab: they would act on the terminal of whoever reads the log.
const CONTROLS = /[^\P{Cc}\t]/gu;

const clean = (raw: string): string => Bun.stripANSI(dropOverwritten(raw)).replace(CONTROLS, '').trimEnd();
