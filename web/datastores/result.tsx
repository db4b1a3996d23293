import type { QueryReply } from '#modules/datastores';
import { Button } from '../ui/button.tsx';
import { count, duration } from '../ui/format.ts';
import { Badge } from '../ui/status.tsx';
import { saveAs, toCsv, toJson } from './cells.ts';
import { ResultGrid } from './grid.tsx';

/** What a statement came back with. */
export const Result = ({ reply, name }: { reply: QueryReply; name: string }) => {
  const { columns, rows, row_count, truncated, duration_ms } = reply;
  if (columns.length === 0)
    return (
      <p>
        <Badge tone="ok">done</Badge> {count(row_count, 'row')} changed{' '}
        <span className="quiet">in {duration(duration_ms)}</span>
      </p>
    );
  return (
    <section className="result" aria-label="Result">
      <div className="result-bar">
        <span className="grow">
          <strong>{count(rows.length, 'row')}</strong> <span className="quiet">in {duration(duration_ms)}</span>
          {truncated && (
            <>
              {' '}
              <Badge tone="warn">there are more</Badge>
            </>
          )}
        </span>
        <Button
          slim
          look="quiet"
          icon="download"
          onClick={() => saveAs(`${name}.csv`, 'text/csv;charset=utf-8', toCsv(columns, rows))}
        >
          CSV
        </Button>
        <Button
          slim
          look="quiet"
          icon="download"
          onClick={() => saveAs(`${name}.json`, 'application/json', toJson(columns, rows))}
        >
          JSON
        </Button>
      </div>
      {rows.length === 0 ? (
        <EmptyResult columns={columns} />
      ) : (
        <ResultGrid label="Rows" columns={columns} rows={rows} />
      )}
    </section>
  );
};

const EmptyResult = ({ columns }: Pick<QueryReply, 'columns'>) => (
  <p className="result-empty quiet">
    No rows. Columns:{' '}
    {columns.map(({ name, type }, index) => (
      // Columns may have the same name.
      // oxlint-disable-next-line react/no-array-index-key
      <span key={index}>
        {index > 0 && ', '}
        <code>{name}</code> <span className="faint">{type}</span>
      </span>
    ))}
  </p>
);
