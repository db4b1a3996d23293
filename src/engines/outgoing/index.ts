import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Clock } from '#kernel/clock';
import { BerthError, notFound } from '#kernel/errors';
import { blockList, inList, kindOf, type AddressKind } from './addresses.ts';
import { parseAllowed, type Allowed } from './allow.ts';
import { getFrom } from './get.ts';
import type { Outgoing, OutsideUrl } from './port.ts';
import { checkUrl, refusedAddress } from './url.ts';

export interface OutgoingDeps {
  clock: Clock;
  /** The setting `mirror_allow`. */
  allow: string;
  /** Networks of apps, in CIDR. */
  networkPool: string;
  /** Asks the resolver of the machine by default. */
  resolve?: (host: string) => Promise<string[]>;
  /** Of this machine's interfaces by default. */
  ownAddresses?: () => string[];
  /** PEM certificates to trust instead of the machine's. */
  ca?: string;
}

const RESOLVE_MS = 10_000;

export const createOutgoing = (deps: OutgoingDeps): Outgoing => {
  const allowed = parseAllowed(deps.allow);
  const guard = createGuard(deps, allowed);
  const resolvePublic: Outgoing['resolvePublic'] = async (url, signal) => {
    const found = isIP(url.host) === 0 ? await resolveName(deps, url.host, signal) : [url.host];
    for (const address of found) guard(url, address);
    return found.sort((left, right) => isIP(left) - isIP(right));
  };
  return {
    checkUrl: (url) => checkUrl(url, allowed),
    resolvePublic,
    get: async (url, request) => {
      const addresses = await resolvePublic(url, request.signal);
      return getFrom({ clock: deps.clock, ca: deps.ca }, { url, addresses, request });
    },
  };
};

/** Throws for an address that the host must not lead to. */
const createGuard = (deps: OutgoingDeps, allowed: Allowed): ((url: OutsideUrl, address: string) => void) => {
  const pool = blockList([deps.networkPool]);
  const ownAddresses = deps.ownAddresses ?? machineAddresses;
  const kindHere = (address: string): AddressKind | undefined => {
    const kind = kindOf(address);
    if (kind !== undefined && kind !== 'private') return kind;
    if (inList(pool, address)) return 'own';
    const own = blockList(ownAddresses().map((each) => `${each}/${isIP(each) === 4 ? 32 : 128}`));
    return inList(own, address) ? 'own' : kind;
  };
  return ({ host, port }, address) => {
    if (isIP(address) === 0) throw unknownHost();
    const kind = kindHere(address);
    if (kind !== undefined && !allowed.opens({ host, port, address }, kind)) throw refusedAddress(kind);
  };
};

const machineAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address.replace(/%.*$/, '')));

const resolveName = async (deps: OutgoingDeps, host: string, signal?: AbortSignal): Promise<string[]> => {
  signal?.throwIfAborted();
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const late = deps.clock.sleep(RESOLVE_MS, over.signal).then(() => undefined);
    const found = await Promise.race([askResolver(deps, host), late]);
    signal?.throwIfAborted();
    if (found === undefined) throw resolverSilent();
    if (found.length === 0) throw unknownHost();
    return [...found];
  } finally {
    stop();
    signal?.removeEventListener('abort', stop);
  }
};

const askResolver = async (deps: OutgoingDeps, host: string): Promise<string[]> => {
  try {
    return await (deps.resolve ?? systemResolve)(host);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOTFOUND') throw unknownHost(cause);
    throw resolverSilent(cause);
  }
};

const systemResolve = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

const unknownHost = (cause?: unknown): BerthError =>
  cause === undefined
    ? notFound('the host of the address has no IP address', 'check the spelling of the host name')
    : new BerthError('NOT_FOUND', 'the host of the address is unknown', {
        hint: 'check the spelling of the host name',
        cause,
      });

const resolverSilent = (cause?: unknown): BerthError =>
  new BerthError('TIMEOUT', 'the host name of the address could not be resolved', {
    hint: 'retry; if it persists, look at the name servers of the server',
    retryable: true,
    ...(cause === undefined ? {} : { cause }),
  });
