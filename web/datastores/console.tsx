import { useInfiniteQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import type { Datastore, QueryReply } from '#modules/datastores';
import { useMay, useSession } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Checkbox, Field, Input } from '../ui/field.tsx';
import { Kbd, Skeleton } from '../ui/layout.tsx';
import { Badge } from '../ui/status.tsx';
import { Took } from '../ui/time.tsx';
import { HistoryMenu } from './history-menu.tsx';
import { historyKey, mayHoldSecret, readHistory, remembered, writeHistory } from './history.ts';
import type { TabProps } from './page.tsx';
import { tablesRead } from './reads.ts';
import { Result } from './result.tsx';
import { run, withSwitchHint } from './run.ts';

const Editor = lazy(() => import('./editor.tsx'));

const HINTS: Record<Datastore['kind'], { label: string; hint: string }> = {
  postgres: { label: 'SQL statement', hint: 'select * from …' },
  redis: { label: 'Redis command', hint: 'HGETALL cart:1' },
  mongo: { label: 'Mongo command, as JSON', hint: '{"find": "users", "filter": {"age": {"$gt": 30}}}' },
};

/** What was typed, kept while the page is open: going elsewhere, or losing a right, takes nothing away. */
const drafts = new Map<string, string>();
const RUN_KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘↵' : 'Ctrl+↵';

type Outcome = { reply: QueryReply; error?: undefined } | { error: unknown; reply?: undefined };

export const Console = ({ datastore }: TabProps) => {
  const { project, name, kind } = datastore;
  const key = historyKey(useSession().token_id, project, name);
  const mayWrite = useMay()('manage_datastores');
  const [text, setText] = useState(() => drafts.get(key) ?? '');
  const [params, setParams] = useState('');
  const [writes, setWrites] = useState(false);
  const [history, setHistory] = useState(() => readHistory(key));
  const [outcome, setOutcome] = useState<Outcome>();
  const [since, setSince] = useState<string>();
  const [forgotten, setForgotten] = useState(false);
  const running = useRef<AbortController>(undefined);
  const schema = useSchema(datastore);
  const change = (next: string): void => {
    drafts.set(key, next);
    setText(next);
  };
  const keep = (query: string): void => {
    const secret = mayHoldSecret(query, kind);
    setForgotten(secret);
    if (secret) return;
    const next = remembered(readHistory(key), query, new Date().toISOString());
    writeHistory(key, next);
    setHistory(next);
  };
  const execute = async (statement: string): Promise<void> => {
    const query = statement.trim();
    if (query === '' || running.current !== undefined) return;
    const controller = new AbortController();
    running.current = controller;
    setSince(new Date().toISOString());
    try {
      const values = withParams(kind, query) ? readParams(params) : [];
      keep(query);
      setOutcome({
        reply: await run(datastore, { query, params: values, readOnly: !(writes && mayWrite) }, controller.signal),
      });
    } catch (thrown) {
      setOutcome(controller.signal.aborted ? undefined : { error: withSwitchHint(thrown, mayWrite) });
    } finally {
      running.current = undefined;
      setSince(undefined);
    }
  };
  return (
    <div className="stack">
      <div className="console">
        <Suspense fallback={<Skeleton height="8.75rem" />}>
          <Editor
            kind={kind}
            {...HINTS[kind]}
            value={text}
            schema={schema}
            onChange={change}
            onRun={(query) => void execute(query)}
          />
        </Suspense>
        {withParams(kind, text) && (
          <div className="console-params">
            <Field
              label="Values of $1, $2 … as a JSON array"
              hint="Values are not recorded, neither in events nor in the history."
            >
              {(wired) => (
                <Input
                  {...wired}
                  mono
                  placeholder='[2, "Grace"]'
                  value={params}
                  onChange={(event) => setParams(event.target.value)}
                />
              )}
            </Field>
          </div>
        )}
        <div className="console-bar">
          {since === undefined ? (
            <Button look="primary" icon="play" disabled={text.trim() === ''} onClick={() => void execute(text)}>
              Run <span className="run-keys">{RUN_KEYS}</span>
            </Button>
          ) : (
            <Button icon="close" onClick={() => running.current?.abort()}>
              Cancel <Took from={since} to={null} />
            </Button>
          )}
          {mayWrite ? (
            <Checkbox checked={writes} onChange={(event) => setWrites(event.target.checked)}>
              Allow writes
            </Checkbox>
          ) : (
            <Badge>reads only</Badge>
          )}
          <span className="grow" />
          <HistoryMenu
            history={history}
            onChoose={change}
            onClear={() => {
              writeHistory(key, []);
              setHistory([]);
            }}
          />
        </div>
      </div>
      {forgotten && <p className="small quiet">Not kept in the history: it may hold a secret.</p>}
      <div aria-live="polite" className="console-outcome">
        {outcome?.error !== undefined && <ErrorCard error={outcome.error} />}
        {outcome?.reply !== undefined && <Result reply={outcome.reply} name={`${project}-${name}`} />}
        {outcome === undefined && since === undefined && (
          <p className="quiet">
            One statement at a time, at most 500 rows; <Kbd>{RUN_KEYS}</Kbd> runs it, or what is selected. Each is an
            event of the project.
          </p>
        )}
      </div>
    </div>
  );
};

/** Tables and their columns, for completion. */
const useSchema = ({ project, name, kind }: Datastore): Record<string, string[]> => {
  const { data } = useInfiniteQuery({ ...tablesRead(project, name, ''), enabled: kind === 'postgres' });
  return useMemo(() => {
    const tables = (data?.pages ?? []).flatMap((page) => page.tables);
    return Object.fromEntries(
      tables.map(({ name: table, schema, columns = [] }) => [
        schema === undefined || schema === 'public' ? table : `${schema}.${table}`,
        columns.map((column) => column.name),
      ]),
    );
  }, [data]);
};

const withParams = (kind: Datastore['kind'], query: string): boolean => kind === 'postgres' && /\$\d/.test(query);

const readParams = (text: string): unknown[] => {
  if (text.trim() === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw new Error('the values are no JSON: write an array such as [2, "Grace"]', { cause: thrown });
  }
  if (!Array.isArray(value)) throw new Error('the values must be a JSON array such as [2, "Grace"]');
  return value;
};
