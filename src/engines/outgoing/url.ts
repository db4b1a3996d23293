import { isIP, isIPv4 } from 'node:net';
import { invalidInput, type BerthError } from '#kernel/errors';
import { kindOf, type AddressKind } from './addresses.ts';
import type { Allowed } from './allow.ts';
import type { OutsideUrl } from './port.ts';

const MAX_LENGTH = 2000;
const USUAL_PORT = { https: 443, http: 80 } as const;
const NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Checks what can be seen without the network; see the contract in port.ts. */
export const checkUrl = (text: string, allowed: Allowed): OutsideUrl => {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (text.length > MAX_LENGTH || /[\u0000-\u0020\u007f\\]/.test(text))
    throw refusedForm('it is too long, or has white space, control characters or backslashes in it');
  const parts = /^(https?):\/\/([^/?#]+)([^?#]*)(.*)$/i.exec(text);
  const authority = parts?.[2] ?? '';
  if (parts === null) throw refusedForm('only https:// addresses are reached');
  if (authority.includes('@')) {
    throw invalidInput(
      'the address has a user or password in it',
      'leave them out of the URL, and send them as mirror_credential',
    );
  }
  if (parts[4] !== '') throw refusedForm('a query or fragment does not belong in it');
  if (/%(?:[01][0-9a-f]|7f|5c)/i.test(parts[3] ?? '')) throw refusedForm('its path has encoded control characters');
  const url = parse(text);
  const scheme = url.protocol === 'http:' ? 'http' : 'https';
  const host = plainHost(url.hostname, authority);
  const port = url.port === '' ? USUAL_PORT[scheme] : Number(url.port);
  requireAllowed({ scheme, host, port }, allowed);
  const path = url.pathname.replace(/\/+$/, '');
  if (path === '') throw refusedForm('the path of the repository is missing');
  return { href: `${url.protocol}//${url.host}${path}`, scheme, host, port };
};

const parse = (text: string): URL => {
  const url = URL.parse(text);
  if (url === null) throw refusedForm('it cannot be read');
  return url;
};

/** The host without brackets, when it was written in the one notation that every program reads alike. */
const plainHost = (hostname: string, authority: string): string => {
  const written = authority.replace(/:\d*$/, '').toLowerCase();
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  // `2130706433`, `0x7f.1`, `127.0.1`, digits of other alphabets: all that URL parsers turn into an address.
  if (isIPv4(hostname)) {
    if (written !== hostname) throw refusedForm('write the IP address as four decimal numbers');
    return hostname;
  }
  if (written.includes('%') || !NAME.test(hostname)) throw refusedForm('its host is no plain domain name');
  return hostname;
};

const requireAllowed = (url: Pick<OutsideUrl, 'scheme' | 'host' | 'port'>, allowed: Allowed): void => {
  const { scheme, host, port } = url;
  const kind = isIP(host) === 0 ? kindOfName(host) : kindOf(host);
  if (kind !== undefined && !allowed.opens({ host, port, address: host }, kind)) throw refusedAddress(kind);
  if (allowed.listsHost(host, port)) return;
  if (scheme === 'http') throw refusedForm('plain http would send the code and credentials in clear');
  if (port !== USUAL_PORT[scheme]) throw refusedForm(`port ${port} is not the usual one`);
};

const kindOfName = (host: string): AddressKind | undefined =>
  host === 'localhost' || host.endsWith('.localhost') ? 'loopback' : undefined;

const refusedForm = (why: string): BerthError =>
  invalidInput(
    `berth does not reach this address: ${why}`,
    'use an address such as https://github.com/acme/app.git; the operator can list other hosts in mirror_allow',
  );

export const refusedAddress = (kind: AddressKind): BerthError =>
  invalidInput(
    `berth does not reach this address: it leads to ${KIND[kind]}`,
    'use a public address; the operator of the server can list others in mirror_allow',
  );

const KIND: Record<AddressKind, string> = {
  loopback: 'the server itself',
  own: 'the server itself or the network of its apps',
  private: 'a private network',
  'link-local': 'a link-local address',
  metadata: 'the metadata service of a cloud',
  multicast: 'a multicast address',
  reserved: 'an address that is reserved',
};
