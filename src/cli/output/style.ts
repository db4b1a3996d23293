/* oxlint-disable no-control-regex -- control characters are what this file looks for */
import type { Io, Writer } from '../io.ts';

type Paint = (text: string) => string;

/** Colours of one stream. */
export interface Style {
  bold: Paint;
  dim: Paint;
  red: Paint;
  green: Paint;
  yellow: Paint;
  cyan: Paint;
  /** Whether escapes may be written at all. */
  enabled: boolean;
}

/** NO_COLOR wins over FORCE_COLOR, and that over what the stream is (no-color.org, force-color.org). */
const mayColour = (writer: Writer, env: Io['env']): boolean => {
  if (env['NO_COLOR'] || env['BERTH_NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced) return forced !== '0' && forced !== 'false';
  return writer.isTTY && env['TERM'] !== 'dumb';
};

export const createStyle = (writer: Writer, env: Io['env']): Style => {
  const enabled = mayColour(writer, env);
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      enabled ? `\u001B[${open}m${text}\u001B[${close}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
    enabled,
  };
};

const ESCAPES =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[ -/]*[0-~])/g;
const CONTROLS = /[\u0000-\u0008\u000A-\u001A\u001C-\u001F\u007F-\u009F]/g;
const COLOUR = /^\u001B\[[\d;]*m$/;

/**
 * Makes a line from an app or a build safe for the terminal: nothing that moves the cursor, sets titles or clears; colours stay
 * where colours are shown. A progress line rewritten with carriage returns shows its last state.
 */
export const inert = (line: string, colours: boolean): string => {
  const last = line.replace(/\r+$/, '').split('\r').at(-1) ?? '';
  const kept = last
    .replaceAll(ESCAPES, (escape) => (colours && COLOUR.test(escape) ? escape : ''))
    .replaceAll(CONTROLS, '');
  if (!kept.includes('\u001B')) return kept;
  return colours ? `${kept}\u001B[0m` : kept.replaceAll('\u001B', '');
};
