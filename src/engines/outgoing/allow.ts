import type { BlockList } from 'node:net';
import { isIP } from 'node:net';
import { invalidInput } from '#kernel/errors';
import { blockList, inList, type AddressKind } from './addresses.ts';

/** What the operator opened, from the setting `mirror_allow`. */
export interface Allowed {
  /** A name, or an address in a listed block: plain http and this port are fine. */
  listsHost(host: string, port: number): boolean;
  /** Whether the listing of a host or block opens an address of this kind. */
  opens(target: { host: string; port: number; address: string }, kind: AddressKind): boolean;
}

interface Entry {
  host: string | undefined;
  block: BlockList | undefined;
  port: number | undefined;
}

/** A name says nothing of these: only their own addresses, written down, open them. */
const NEVER_BY_NAME: ReadonlySet<AddressKind> = new Set(['metadata', 'link-local', 'multicast', 'reserved']);

/** `git.example.com, gitea.lan:3000, 10.1.0.0/16, [fd00::5]:3000`. INVALID_INPUT for anything else. */
export const parseAllowed = (setting: string): Allowed => {
  const entries = setting
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map(parseEntry);
  const portFits = (entry: Entry, port: number): boolean => entry.port === undefined || entry.port === port;
  const byBlock = (address: string, port: number): boolean =>
    entries.some((entry) => entry.block !== undefined && portFits(entry, port) && inList(entry.block, address));
  const byName = (host: string, port: number): boolean =>
    entries.some((entry) => entry.host === host && portFits(entry, port));
  return {
    listsHost: (host, port) => (isIP(host) === 0 ? byName(host, port) : byBlock(host, port)),
    opens: ({ host, port, address }, kind) =>
      byBlock(address, port) || (byName(host, port) && !NEVER_BY_NAME.has(kind)),
  };
};

const NAME = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

const parseEntry = (text: string): Entry => {
  const parts = /^(?:\[([^\]]+)\]|([^:[\]]+)|([0-9a-f:]+(?:\/\d+)?))(?::(\d{1,5}))?$/i.exec(text);
  const where = (parts?.[1] ?? parts?.[2] ?? parts?.[3] ?? '').toLowerCase();
  const port = parts?.[4] === undefined ? undefined : Number(parts[4]);
  const [address = '', length] = where.split('/');
  const family = isIP(address);
  const bits = family === 4 ? 32 : 128;
  const size = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (port === 0 || (port ?? 0) > 65_535) throw badEntry(text);
  if (family !== 0 && size <= bits) return { host: undefined, block: blockList([`${address}/${size}`]), port };
  if (family === 0 && length === undefined && NAME.test(where) && !/(?:^|\.)[0-9]+$/.test(where))
    return { host: where, block: undefined, port };
  throw badEntry(text);
};

const badEntry = (text: string) =>
  invalidInput(
    `mirror_allow: "${text}" is neither a host, nor an address or block of addresses`,
    'write entries such as git.example.com, gitea.lan:3000, 10.1.0.0/16 or [fd00::5]:3000, with commas between',
  );
