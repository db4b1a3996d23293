import { useRef, useState } from 'react';
import type { Datastore, QueryReply } from '#modules/datastores';
import { ApiError } from '../api.ts';
import { historyKey, mayHoldSecret, readHistory, remembered, writeHistory } from './history.ts';
import { run, withSwitchHint } from './run.ts';

type Outcome = { reply: QueryReply; error?: undefined } | { error: unknown; reply?: undefined };

/** What was typed, kept while the page is open: going elsewhere, or losing a right, takes nothing away. */
const drafts = new Map<string, string>();

/** A text that survives the page's other places. */
export const useDraft = (key: string): [string, (text: string) => void] => {
  const [text, setText] = useState(() => drafts.get(key) ?? '');
  return [
    text,
    (next) => {
      drafts.set(key, next);
      setText(next);
    },
  ];
};

/** The history of a token in a datastore; `forgotten` when the last statement was not kept. */
export const useHistory = (tokenId: string, { project, name, kind }: Datastore) => {
  const key = historyKey(tokenId, project, name);
  const [history, setHistory] = useState(() => readHistory(key));
  const [forgotten, setForgotten] = useState(false);
  return {
    key,
    history,
    forgotten,
    keep: (query: string): void => {
      const secret = mayHoldSecret(query, kind);
      setForgotten(secret);
      if (secret) return;
      const next = remembered(readHistory(key), query, new Date().toISOString());
      writeHistory(key, next);
      setHistory(next);
    },
    clear: (): void => {
      writeHistory(key, []);
      setHistory([]);
    },
  };
};

interface Request {
  statement: string;
  /** Values of `$1`, `$2` …, as a JSON array. */
  params: string;
  writes: boolean;
}

/** Runs one statement at a time; `since` while one runs. */
export const useRunner = (datastore: Datastore, mayWrite: boolean, keep: (query: string) => void) => {
  const [outcome, setOutcome] = useState<Outcome>();
  const [since, setSince] = useState<string>();
  const running = useRef<AbortController>(undefined);
  const execute = async ({ statement, params, writes }: Request): Promise<void> => {
    const query = statement.trim();
    if (query === '' || running.current !== undefined) return;
    const controller = new AbortController();
    running.current = controller;
    setSince(new Date().toISOString());
    try {
      const values = takesParams(datastore.kind, query) ? readParams(params) : [];
      keep(query);
      const readOnly = !(writes && mayWrite);
      setOutcome({ reply: await run(datastore, { query, params: values, readOnly }, controller.signal) });
    } catch (thrown) {
      setOutcome(controller.signal.aborted ? undefined : { error: withSwitchHint(thrown, mayWrite) });
    } finally {
      running.current = undefined;
      setSince(undefined);
    }
  };
  return { outcome, since, execute, cancel: () => running.current?.abort() };
};

export const takesParams = (kind: Datastore['kind'], query: string): boolean =>
  kind === 'postgres' && /\$\d/.test(query);

export const readParams = (text: string): unknown[] => {
  if (text.trim() === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What is wrong with it is plain to see; the parser's own words are for programs.
    throw wrongParams('the values are no JSON');
  }
  if (!Array.isArray(value)) throw wrongParams('the values are no array');
  return value;
};

const wrongParams = (message: string): ApiError =>
  new ApiError(
    { code: 'INVALID_INPUT', message, hint: 'write a JSON array such as [2, "Grace"]', retryable: false },
    0,
  );
