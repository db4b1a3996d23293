/** `__Host-`: browsers take it over TLS (or from this machine) only, for this host alone, and no other host can set it. */
const NAME = '__Host-berth';
const VALUE = /^[A-Za-z0-9_-]{20,100}$/;

/** The value of the session's cookie (RFC 6265, 5.4); undefined when there is none that could be one. */
export const readCookie = (request: Request): string | undefined => {
  const header = request.headers.get('cookie');
  if (header === null) return undefined;
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at === -1 || pair.slice(0, at).trim() !== NAME) continue;
    const value = pair.slice(at + 1).trim();
    return VALUE.test(value) ? value : undefined;
  }
  return undefined;
};

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** `Set-Cookie` that makes a browser keep the value for so long. */
export const keepCookie = (value: string, seconds: number): string =>
  `${NAME}=${value}; Max-Age=${Math.max(0, Math.floor(seconds))}; ${ATTRIBUTES}`;

/** `Set-Cookie` that makes a browser forget it. */
export const dropCookie = (): string => keepCookie('', 0);
