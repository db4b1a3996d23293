import { VERSION } from '#kernel/version';

/** What every reply carries beside its request's id. */
export const REPLY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'x-berth-version': VERSION,
} as const;

/** The part of the framework's reply settings that this takes over. */
export interface ReplySettings {
  headers: Record<string, string | number | string[]>;
}

/** A reply copies it, which costs half of what making one from a record does. */
const jsonHeaders = new Headers({ ...REPLY_HEADERS, 'content-type': 'application/json' });

/**
 * Sends text that is JSON already, as fast as possible: the reply takes over the headers gathered so far, so that the
 * framework need not merge them into a finished response, which costs more than all else on a cached read.
 */
export const jsonText = (text: string, set: ReplySettings): Response => {
  const { headers } = set;
  set.headers = {};
  const id = headers['x-request-id'];
  if (typeof id === 'string' && Object.keys(headers).length === COMMON) {
    jsonHeaders.set('x-request-id', id);
    return new Response(text, { headers: jsonHeaders });
  }
  headers['content-type'] = 'application/json';
  return new Response(text, { headers: headers as Record<string, string> });
};

const COMMON = Object.keys(REPLY_HEADERS).length + 1;
