import type { Writer } from '../io.ts';
import { bytes } from './format.ts';

/** A bar on a terminal's last line; nothing anywhere else. */
export interface Progress {
  add(done: number): void;
  /** Takes the bar off the screen. */
  end(): void;
}

const BAR = 24;
const REDRAW_MS = 80;

export const createProgress = (writer: Writer, label: string, total: number): Progress => {
  let done = 0;
  let drawn = 0;
  const draw = (): void => {
    drawn = performance.now();
    writer.write(`\r${progressLine({ label, done, total, columns: writer.columns })}\u001B[K`);
  };
  if (!writer.isTTY) return { add: () => undefined, end: () => undefined };
  return {
    add: (more) => {
      done += more;
      if (performance.now() - drawn > REDRAW_MS) draw();
    },
    end: () => writer.write('\r\u001B[K'),
  };
};

interface ProgressState {
  label: string;
  done: number;
  total: number;
  columns: number;
}

/** `uploading  ████████        40 %  12 MB of 30 MB`, cut to the terminal. */
export const progressLine = ({ label, done, total, columns }: ProgressState): string => {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.round(share * BAR);
  const text = `${label}  ${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}  ${Math.floor(share * 100)} %  ${bytes(done)} of ${bytes(total)}`;
  return text.slice(0, Math.max(0, columns - 1));
};
