import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { interrupted } from './failure.ts';

/** Reads one line from the terminal. A hidden answer, such as a token, is not echoed. */
export const ask = (question: string, hidden: boolean, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    process.stderr.write(question);
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({ input: process.stdin, output: hidden ? silent : process.stderr, terminal: true });
    const stop = (): void => lines.close();
    let answered = false;
    signal.addEventListener('abort', stop, { once: true });
    lines.on('SIGINT', stop);
    lines.on('line', (line) => {
      answered = true;
      resolve(line);
      lines.close();
    });
    lines.on('close', () => {
      signal.removeEventListener('abort', stop);
      if (hidden || !answered) process.stderr.write('\n');
      if (!answered) reject(interrupted('interrupted', 'nothing was changed'));
    });
  });
