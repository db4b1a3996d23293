import { isoTime } from './clock.ts';
import { messageOf } from './errors.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Record<string, string | number | boolean | null | undefined>;

/** The server's own log: one JSON object a line on stderr. Never give it a secret. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, thrown: unknown, fields?: LogFields): void;
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

export const createLog = (level: LogLevel, write: (line: string) => void, now: () => number): Log => {
  const emit = (at: LogLevel, message: string, fields: LogFields = {}): void => {
    if (RANK[at] >= RANK[level]) write(`${JSON.stringify({ ts: isoTime(now()), level: at, message, ...fields })}\n`);
  };
  return {
    debug: (message, fields) => emit('debug', message, fields),
    info: (message, fields) => emit('info', message, fields),
    warn: (message, fields) => emit('warn', message, fields),
    error: (message, thrown, fields) =>
      emit('error', message, {
        ...fields,
        error: messageOf(thrown),
        stack: thrown instanceof Error ? thrown.stack : undefined,
      }),
  };
};
