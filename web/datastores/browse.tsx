import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import type { Datastore } from '#modules/datastores';
import { Button, IconButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { SearchInput } from '../ui/field.tsx';
import { bytes, duration } from '../ui/format.ts';
import { Card, Empty, SkeletonLines } from '../ui/layout.tsx';
import { Badge } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import type { TabProps } from './page.tsx';
import { tablesRead, type Entry } from './reads.ts';
import { Result } from './result.tsx';
import { lookInto, run } from './run.ts';

const WORDS: Record<Datastore['kind'], { many: string; find: string; none: string; about: string }> = {
  postgres: {
    many: 'Tables',
    find: 'Part of a name',
    none: 'No tables yet',
    about: 'What the app creates appears here.',
  },
  redis: { many: 'Keys', find: 'Pattern, such as user:*', none: 'No keys', about: 'What the app stores appears here.' },
  mongo: {
    many: 'Collections',
    find: 'Part of a name',
    none: 'No collections yet',
    about: 'What the app creates appears here.',
  },
};

const idOf = ({ schema, name }: Entry): string => `${schema ?? ''}.${name}`;

/** Tables, keys or collections, and what is in the chosen one. */
export const Browse = ({ datastore }: TabProps) => {
  const { project, name, kind } = datastore;
  const [typed, setTyped] = useState('');
  const match = useDeferredValue(typed.trim());
  const [chosen, setChosen] = useState<Entry>();
  const { data, error, isPending, isFetching, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery(
    tablesRead(project, name, match),
  );
  const entries = data?.pages.flatMap((page) => page.tables) ?? [];
  const words = WORDS[kind];
  return (
    <div className="browse">
      <Card
        title={words.many}
        flush
        actions={
          <IconButton
            slim
            icon="restart"
            label={`Read the ${words.many.toLowerCase()} again`}
            busy={isFetching}
            onClick={() => void refetch()}
          />
        }
      >
        <div className="browse-find">
          <SearchInput label={words.find} value={typed} onChange={(event) => setTyped(event.target.value)} />
        </div>
        {error !== null && <ErrorCard error={error} onRetry={() => void refetch()} />}
        {isPending && error === null && (
          <div className="browse-find">
            <SkeletonLines lines={4} />
          </div>
        )}
        {data !== undefined && entries.length === 0 && !hasNextPage && (
          <p className="browse-find quiet">{match === '' ? `${words.none}. ${words.about}` : 'Nothing fits.'}</p>
        )}
        <ul className="entries">
          {entries.map((entry) => (
            <li key={idOf(entry)}>
              <button
                type="button"
                aria-pressed={chosen !== undefined && idOf(chosen) === idOf(entry)}
                onClick={() => setChosen(entry)}
              >
                <span className="cut mono">
                  {entry.schema === undefined || entry.schema === 'public'
                    ? entry.name
                    : `${entry.schema}.${entry.name}`}
                </span>
                <span className="small quiet nowrap">{figureOf(entry)}</span>
              </button>
            </li>
          ))}
        </ul>
        {hasNextPage && (
          <div className="browse-find">
            <Button slim busy={isFetching} onClick={() => void fetchNextPage()}>
              More
            </Button>
          </div>
        )}
      </Card>
      <div className="stack">
        {chosen === undefined ? (
          <Card>
            <Empty icon="datastore" title={`Choose one of the ${words.many.toLowerCase()}`}>
              You see how it is made, and its first rows.
            </Empty>
          </Card>
        ) : (
          <Content key={idOf(chosen)} datastore={datastore} entry={chosen} />
        )}
      </div>
    </div>
  );
};

/** Short, to leave the room to the name; all of it stands beside the content. */
const figureOf = ({ type, size_bytes }: Entry): string =>
  (type === 'table' || type === 'collection') && size_bytes !== undefined ? bytes(size_bytes) : type;

const Content = ({ datastore, entry }: { datastore: Datastore; entry: Entry }) => {
  const { project, name, kind } = datastore;
  const statement = lookInto(kind, entry);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['tables', project, name, 'rows', idOf(entry), entry.type],
    queryFn: ({ signal }) => run(datastore, statement, signal),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const { columns = [] } = entry;
  return (
    <>
      <Card
        title={entry.name}
        flush
        actions={
          <>
            <span className="small quiet">{factsOf(entry)}</span>
            <IconButton slim icon="restart" label="Read it again" busy={isFetching} onClick={() => void refetch()} />
          </>
        }
      >
        {columns.length > 0 && (
          <details className="columns-of">
            <summary>{columns.length} columns</summary>
            <Table
              caption={`Columns of ${entry.name}`}
              columns={[
                {
                  head: 'Column',
                  cell: (column) => (
                    <span className="nowrap">
                      <code>{column.name}</code> {column.primary_key && <Badge tone="busy">key</Badge>}
                    </span>
                  ),
                },
                { head: 'Type', cell: (column) => <code>{column.type}</code> },
                { head: 'Null', cell: (column) => (column.nullable ? 'may be' : 'never') },
                {
                  head: 'Default',
                  cell: (column) =>
                    column.default === null ? <span className="faint">none</span> : <code>{column.default}</code>,
                },
              ]}
              rows={columns}
              keyOf={(column) => column.name}
            />
          </details>
        )}
        {error !== null && <ErrorCard error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && (
          <div className="browse-find">
            <SkeletonLines lines={5} />
          </div>
        )}
        {data !== undefined && <Result reply={data} name={entry.name} />}
      </Card>
    </>
  );
};

const factsOf = ({ type, row_estimate, size_bytes, ttl_seconds }: Entry): string =>
  [
    type,
    ...(row_estimate === undefined || row_estimate < 0 ? [] : [`about ${row_estimate.toLocaleString('en')} rows`]),
    ...(size_bytes === undefined ? [] : [bytes(size_bytes)]),
    ...(ttl_seconds === undefined
      ? []
      : [ttl_seconds === null ? 'does not expire' : `expires in ${duration(ttl_seconds * 1000)}`]),
  ].join(' · ');
