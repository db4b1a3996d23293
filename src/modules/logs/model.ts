import { Type, type Static } from '@sinclair/typebox';
import { oneOf } from '#kernel/schema';

/** One line of a service's log: how it is stored, and the data of a `log` event. */
export const LogLineSchema = Type.Object({
  ts: Type.String({ description: 'RFC 3339 with nanoseconds, as the engine stamped it' }),
  replica: Type.String(),
  release: Type.String(),
  stream: oneOf(['stdout', 'stderr']),
  line: Type.String(),
});

export type LogLine = Static<typeof LogLineSchema>;

/** Writes a line as JSON with its keys in this order: `matcher` and `cursorIn` read them from the text. */
export const encodeLine = ({ ts, replica, release, stream, line }: LogLine): string =>
  JSON.stringify({ ts, replica, release, stream, line });

export interface LogFilter {
  replica?: string | undefined;
  release?: string | undefined;
  /** Milliseconds since the epoch. */
  since?: number | undefined;
}

/** `{"ts":"` */
const TS_AT = 7;
/** Down to milliseconds. */
const TS_LENGTH = 23;

/**
 * Tells whether an encoded line passes; undefined when every line does. Quotes inside of values are escaped, so that
 * `"replica":"x"` can only be the key.
 */
export const matcher = (filter: LogFilter): ((text: string) => boolean) | undefined => {
  const { replica, release, since } = filter;
  if (replica === undefined && release === undefined && since === undefined) return undefined;
  const replicaPart = replica === undefined ? '' : `"replica":${JSON.stringify(replica)},`;
  const releasePart = release === undefined ? '' : `"release":${JSON.stringify(release)},`;
  const from = since === undefined ? '' : new Date(since).toISOString().slice(0, TS_LENGTH);
  return (text) =>
    text.slice(TS_AT, TS_AT + TS_LENGTH) >= from && text.includes(replicaPart) && text.includes(releasePart);
};
