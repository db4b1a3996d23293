import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';

/** Header with which berth's own proxy proves that its `X-Forwarded-For` counts. */
export const PROXY_SECRET_HEADER = 'x-berth-proxy';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * The address that a request comes from: the peer's, or, when the request carries the proxy's secret, the last one in
 * `X-Forwarded-For` (the one that the proxy itself saw). IPv6 counts by its /64, which one client has to itself.
 */
export const createAddressOf = (
  proxySecret: string,
  peerOf: (request: Request) => string | undefined,
): ((request: Request) => string) => {
  const wanted = sha256(proxySecret);
  const trusted = (request: Request): boolean => {
    const given = request.headers.get(PROXY_SECRET_HEADER);
    return given !== null && proxySecret !== '' && timingSafeEqual(sha256(given), wanted);
  };
  return (request) => {
    const forwarded = trusted(request) ? lastForwarded(request.headers.get('x-forwarded-for')) : undefined;
    return networkOf(forwarded ?? peerOf(request) ?? 'unknown');
  };
};

const lastForwarded = (header: string | null): string | undefined => {
  const last = header?.split(',').at(-1)?.trim();
  return last !== undefined && isIP(last) !== 0 ? last : undefined;
};

const networkOf = (address: string): string => {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  if (isIP(plain) !== 6) return plain;
  const [head = '', tail] = plain.split('::');
  const parts = head.split(':').filter((part) => part !== '');
  const rest = tail === undefined ? [] : tail.split(':').filter((part) => part !== '');
  const full = [...parts, ...Array.from({ length: Math.max(0, 8 - parts.length - rest.length) }, () => '0'), ...rest];
  return `${full.slice(0, 4).join(':')}::/64`;
};
