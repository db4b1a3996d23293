import { useInfiniteQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { Datastore } from '#modules/datastores';
import { useMay, useSession } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Checkbox, Field, Input } from '../ui/field.tsx';
import { Kbd, Skeleton } from '../ui/layout.tsx';
import { Badge } from '../ui/status.tsx';
import { Took } from '../ui/time.tsx';
import { HistoryMenu } from './history-menu.tsx';
import type { TabProps } from './page.tsx';
import { tablesRead } from './reads.ts';
import { Result } from './result.tsx';
import { takesParams, useDraft, useHistory, useRunner } from './use-console.ts';

const Editor = lazy(() => import('./editor.tsx'));

const HINTS: Record<Datastore['kind'], { label: string; hint: string }> = {
  postgres: { label: 'SQL statement', hint: 'select * from …' },
  redis: { label: 'Redis command', hint: 'HGETALL cart:1' },
  mongo: { label: 'Mongo command, as JSON', hint: '{"find": "users", "filter": {"age": {"$gt": 30}}}' },
};

const RUN_KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘↵' : 'Ctrl+↵';

export const Console = ({ datastore }: TabProps) => {
  const { project, name, kind } = datastore;
  const mayWrite = useMay()('manage_datastores');
  const { key, history, forgotten, keep, clear } = useHistory(useSession().token_id, datastore);
  const { outcome, since, execute, cancel } = useRunner(datastore, mayWrite, keep);
  const [text, change] = useDraft(key);
  const [params, setParams] = useState('');
  const [writes, setWrites] = useState(false);
  const schema = useSchema(datastore);
  const start = (statement: string): void => void execute({ statement, params, writes });
  return (
    <div className="stack">
      <div className="console">
        <Suspense fallback={<Skeleton height="8.75rem" />}>
          <Editor kind={kind} {...HINTS[kind]} value={text} schema={schema} onChange={change} onRun={start} />
        </Suspense>
        {takesParams(kind, text) && (
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
            <Button look="primary" icon="play" disabled={text.trim() === ''} onClick={() => start(text)}>
              Run <span className="run-keys">{RUN_KEYS}</span>
            </Button>
          ) : (
            <Button icon="close" onClick={cancel}>
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
          <HistoryMenu history={history} onChoose={change} onClear={clear} />
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
