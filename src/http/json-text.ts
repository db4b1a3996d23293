/** The part of the framework's reply settings that this takes over. */
export interface ReplySettings {
  headers: Record<string, string | number | string[]>;
}

/**
 * Sends text that is JSON already, as fast as possible: the reply takes over the headers gathered so far, so that the
 * framework need not merge them into a finished response, which costs more than all else on a cached read.
 */
export const jsonText = (text: string, set: ReplySettings): Response => {
  const { headers } = set;
  set.headers = {};
  headers['content-type'] = 'application/json';
  return new Response(text, { headers: headers as Record<string, string> });
};
