import type { DynamicConfig, TlsStoreConfig } from './model.ts';

const STRING = /"(?:[^"\\]|\\.)*"/g;
const ESCAPES: Record<string, string> = { '{': '\\u007b', '}': '\\u007d' };

/**
 * Renders a configuration as JSON, which is YAML too. Traefik runs every file through Go's `text/template` before it
 * parses it, so braces inside strings are written as `\u007b` and `\u007d`: the template engine sees no action, the
 * YAML parser sees the brace. Between strings JSON never has two opening braces in a row.
 */
export const render = (config: DynamicConfig | TlsStoreConfig): string => {
  const text = JSON.stringify(config, null, 2).replaceAll(STRING, (string) =>
    string.replaceAll(/[{}]/g, (brace) => ESCAPES[brace] ?? brace),
  );
  assertInert(text);
  return `${text}\n`;
};

/** Everything is validated before it gets here, so a text that breaks these rules is a fault of berth's, not of input. */
const assertInert = (text: string): void => {
  if (text.includes('{{')) throw new Error('a rendered proxy configuration has a template action');
  if (/[^\n\x20-\x7e]/.test(text)) throw new Error('a rendered proxy configuration has characters beyond plain ASCII');
};
