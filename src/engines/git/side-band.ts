import { packet } from './pkt-line.ts';

/** Streams inside of a `side-band-64k` reply (gitprotocol-capabilities(5)). */
export const BAND = { data: 1, progress: 2, error: 3 } as const;

/** What one packet of a side band carries: 65520, less its length and the number of the band. */
const MAX_BYTES = 65_515;

/** What git itself sends while a push takes long, so that nothing between cuts the connection. */
export const KEEP_ALIVE: Uint8Array = packet(new Uint8Array([BAND.data]));

/** Text as packets of the band that clients show as `remote:` lines. */
export const progress = (text: string): Uint8Array => {
  const bytes = Buffer.from(text);
  const packets: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += MAX_BYTES) {
    packets.push(packet(Buffer.concat([Buffer.from([BAND.progress]), bytes.subarray(at, at + MAX_BYTES)])));
  }
  return Buffer.concat(packets);
};

const LONGEST_LINE = 8000;

/** A line for a terminal: without escape sequences and control characters, which may come out of a build log. */
export const printable = (line: string): string =>
  line
    .slice(0, LONGEST_LINE)
    // oxlint-disable-next-line no-control-regex -- they are what must go
    .replace(/\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])/g, '')
    // oxlint-disable-next-line no-control-regex
    .replace(/[\x00-\x08\x0a-\x1f\x7f-\x9f]/g, ' ')
    .trimEnd();
