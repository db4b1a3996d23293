import type { Io } from '../io.ts';
import type { FailureBody } from '../failure.ts';
import { createStyle, inert, type Style } from './style.ts';
import { table, type Column } from './table.ts';

/** Where commands write: data on stdout, everything else on stderr. */
export interface Out {
  /** Whether stdout carries JSON. */
  json: boolean;
  /** Colours for text on stdout. */
  style: Style;
  /** Colours for text on stderr. */
  noteStyle: Style;
  width: number;
  /** A result: the value itself as JSON, or its text. */
  data(value: unknown, text: () => string): void;
  /** A list as a table; `empty` is said on stderr when there is nothing, and so is that it goes on. */
  list<Row>(reply: object, rows: readonly Row[], view: { columns: readonly Column<Row>[]; empty: string }): void;
  /** One JSON line of a stream. */
  jsonLine(value: unknown): void;
  /** Text on stdout whatever the mode. */
  raw(text: string): void;
  /** Progress for people: stderr. Silent with JSON, so that machines meet nothing but data and errors. */
  note(text: string): void;
  /** Something to know although it worked: stderr, in both modes. */
  warn(text: string): void;
  failure(body: FailureBody): void;
}

export const createOut = (io: Io, json: boolean): Out => {
  const style = createStyle(io.stdout, io.env);
  const noteStyle = createStyle(io.stderr, io.env);
  const width = io.stdout.isTTY ? io.stdout.columns : Number.POSITIVE_INFINITY;
  const print = (text: string): void => io.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  const out: Out = {
    json,
    style,
    noteStyle,
    width,
    data: (value, text) => print(json ? JSON.stringify(value, null, io.stdout.isTTY ? 2 : 0) : text()),
    list: (reply, rows, view) => {
      if (json) out.data(reply, () => '');
      else if (rows.length === 0) out.note(view.empty);
      else print(table(view.columns, rows, width));
      if ('next_cursor' in reply && typeof reply.next_cursor === 'string')
        out.note(`there is more: add --all, or --cursor ${reply.next_cursor}`);
    },
    jsonLine: (value) => print(JSON.stringify(value)),
    raw: print,
    note: (text) => {
      if (!json) io.stderr.write(`${text}\n`);
    },
    warn: (text) => io.stderr.write(`${noteStyle.yellow('warning:')} ${text}\n`),
    failure: (body) => {
      // The terminal has shown ^C where the cursor was.
      const fresh = body.code === 'INTERRUPTED' && io.stderr.isTTY && io.signal.aborted ? '\n' : '';
      io.stderr.write(json ? `${JSON.stringify(body)}\n` : fresh + failureText(body, noteStyle));
    },
  };
  return out;
};

const failureText = (body: FailureBody, style: Style): string => {
  const code = body.code === 'USAGE' || body.code === 'LOCAL_ERROR' ? '' : ` ${style.dim(`(${body.code})`)}`;
  const tail = body.log_tail?.trimEnd() ?? '';
  const shownTail =
    tail === ''
      ? ''
      : `${tail
          .split('\n')
          .map((line) => `  ${style.dim('│')} ${inert(line, style.enabled)}`)
          .join('\n')}\n`;
  const hint = body.hint === '' ? '' : `${style.cyan('hint:')} ${inert(body.hint, false)}\n`;
  return `${shownTail}${style.red('error:')} ${inert(body.message.replaceAll('\n', ' '), false)}${code}\n${hint}`;
};
