/** What was run, newest first: kept in this browser only, per token and datastore. What may hold a secret is not kept. */
export interface Remembered {
  query: string;
  at: string;
}

const MOST = 50;
const LONGEST = 4000;

const SECRET_WORD =
  /pass(?:word|wd|phrase)?\b|secret|token|credential|api_?key|private_?key|\bauth\b|\bhello\b|setuser|identified|encrypt/i;
const LITERAL = /'[^']*'|"[^"]*"|\$([A-Za-z_]*)\$/;
const URL_WITH_USER = /:\/\/[^\s/@]*:[^\s/@]+@/;
const KEY_BLOCK = /-----BEGIN/;
/** Long words of letters and digits mixed, as keys are. */
const LONG_WORD = /[A-Za-z0-9_+/=-]{20,}/g;

/** Errs on the side of forgetting: a statement that could hold a secret is not worth keeping. */
export const mayHoldSecret = (query: string, kind: 'postgres' | 'redis' | 'mongo'): boolean => {
  if (URL_WITH_USER.test(query) || KEY_BLOCK.test(query)) return true;
  if (SECRET_WORD.test(query) && (kind !== 'postgres' || LITERAL.test(query))) return true;
  return (query.match(LONG_WORD) ?? []).some((word) => /\d/.test(word) && /[A-Za-z]/.test(word));
};

export const historyKey = (tokenId: string, project: string, datastore: string): string =>
  `berth.console.${tokenId}.${project}.${datastore}`;

export const readHistory = (key: string, storage: Pick<Storage, 'getItem'> = localStorage): Remembered[] => {
  const text = storage.getItem(key);
  if (text === null) return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isRemembered).slice(0, MOST) : [];
  } catch {
    // Not what this page wrote: as good as none.
    return [];
  }
};

const isRemembered = (value: unknown): value is Remembered =>
  typeof value === 'object' &&
  value !== null &&
  'query' in value &&
  typeof value.query === 'string' &&
  'at' in value &&
  typeof value.at === 'string';

/** The history with this one at its front; each statement stands in it once. */
export const remembered = (history: readonly Remembered[], query: string, at: string): Remembered[] =>
  query.length > LONGEST
    ? [...history]
    : [{ query, at }, ...history.filter((each) => each.query !== query)].slice(0, MOST);

export const writeHistory = (
  key: string,
  history: readonly Remembered[],
  storage: Pick<Storage, 'setItem' | 'removeItem'> = localStorage,
): void => {
  try {
    if (history.length === 0) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(history));
  } catch {
    // A full or closed storage: the history is a comfort, and what was run has run.
    return;
  }
};
