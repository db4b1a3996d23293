import { BerthError } from '#kernel/errors';
import { originOf } from './origin.ts';

/** Of unsafe requests that a cookie vouches for. No form can send it, and no foreign page without leave. */
const HEADER = 'x-berth-request';

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

/**
 * Lets only requests of this server's own pages through: a browser sends the cookie along for others of the same site too, and
 * the apps of this server are of the same site. Fetch metadata decides, `Origin` where a browser has none (W3C Fetch Metadata;
 * OWASP, Cross-Site Request Forgery Prevention).
 */
export const requireOwnPage = (request: Request): void => {
  const safe = isSafe(request.method);
  if (!isOwn(request, safe)) throw refused('a session counts only for requests of the dashboard’s own pages');
  if (!safe && request.headers.get(HEADER) !== '1') throw refused('the request has no header X-Berth-Request');
};

const isOwn = (request: Request, safe: boolean): boolean => {
  const site = request.headers.get('sec-fetch-site');
  // `none`: typed into the address bar, or opened from a bookmark.
  if (site !== null) return site === 'same-origin' || (safe && site === 'none');
  const origin = request.headers.get('origin');
  return origin === null ? safe : origin === originOf(request);
};

const refused = (message: string): BerthError =>
  new BerthError('UNAUTHENTICATED', message, {
    hint: 'send it from the dashboard with "X-Berth-Request: 1", or use a bearer token',
  });
