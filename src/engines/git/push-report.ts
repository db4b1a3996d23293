import { createPacketReader } from './pkt-line.ts';

/** What `report-status` and `report-status-v2` say, by ref in Latin-1: null for done, else git's reason. */
export interface PushReport {
  unpacked: string;
  refs: ReadonlyMap<string, string | null>;
}

/** Reads a whole report; undefined for what is none, such as the half of one. */
export const parseReport = (bytes: Uint8Array): PushReport | undefined => {
  const reader = createPacketReader();
  reader.push(bytes);
  let unpacked: string | undefined;
  const refs = new Map<string, string | null>();
  for (let next = reader.next(); next !== undefined; next = reader.next()) {
    if (next.type !== 'data') return unpacked === undefined ? undefined : { unpacked, refs };
    const line = Buffer.from(next.payload).toString('latin1').replace(/\n$/, '');
    const [, word, rest = ''] = /^(unpack|ok|ng) (.*)$/s.exec(line) ?? [];
    if (word === 'unpack') unpacked = rest;
    else if (word === 'ok') refs.set(rest, null);
    else if (word === 'ng') {
      const at = rest.indexOf(' ');
      refs.set(at === -1 ? rest : rest.slice(0, at), at === -1 ? 'refused' : utf8(rest.slice(at + 1)));
    }
  }
  return undefined;
};

const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('utf8');
