/** What is sent for an address: some bytes with a name that changes with them (RFC 9110, 8.8.3). */
export interface Representation {
  /** Quoted, and strong. */
  etag: string;
  bytes: number;
}

/** A part of the bytes; `end` is the first byte that is not in it. */
export interface ByteRange {
  start: number;
  end: number;
}

export type Selected = { status: 200 | 304 | 416 } | { status: 206; range: ByteRange };

/** What a GET or HEAD asks for by its conditions and its range (RFC 9110, 13.2.2). A range beyond the end is 416. */
export const selectPart = (headers: Headers, { etag, bytes }: Representation): Selected => {
  const known = headers.get('if-none-match');
  if (known !== null && names(known, etag)) return { status: 304 };
  const wanted = headers.get('range');
  const only = headers.get('if-range');
  // By date nothing can be resumed safely: dates are those of the file, which says nothing of its content.
  if (wanted === null || (only !== null && only.trim() !== etag)) return { status: 200 };
  return readRange(wanted, bytes);
};

/** If-None-Match compares weakly (RFC 9110, 13.1.2). */
const names = (header: string, etag: string): boolean =>
  header.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag);

/** One range; several, and other units, are answered with everything, as a server may (RFC 9110, 14.2). */
const readRange = (header: string, bytes: number): Selected => {
  const [, from = '', to = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/.exec(header) ?? [];
  if (from === '' && to === '') return { status: 200 };
  const start = from === '' ? Math.max(0, bytes - Number(to)) : Number(from);
  const end = from === '' || to === '' ? bytes : Math.min(bytes, Number(to) + 1);
  if (from !== '' && to !== '' && Number(to) < start) return { status: 200 };
  if (start >= bytes || start >= end) return { status: 416 };
  return { status: 206, range: { start, end } };
};

/**
 * The codings that a client takes, the best first, of those in `offered` (RFC 9110, 12.5.3). Only named ones count: `*`
 * comes from programs that would not unpack what they get.
 */
export const acceptedCodings = <T extends string>(header: string | null, offered: readonly T[]): T[] => {
  const weights = new Map<string, number>();
  for (const each of (header ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  const weightOf = (name: T): number => weights.get(name) ?? 0;
  return offered.filter((name) => weightOf(name) > 0).sort((a, b) => weightOf(b) - weightOf(a));
};
