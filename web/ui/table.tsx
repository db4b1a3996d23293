import type { ReactNode } from 'react';

export interface Column<T> {
  head: string;
  cell: (row: T) => ReactNode;
  /** Numbers stand at the end. */
  end?: boolean;
  /** Only for those who can't see: a column of buttons. On a phone it stands beside the first column's value. */
  silent?: boolean;
  /** The title of a row on a phone, which stands first and without its head; of the first column unless another says so. */
  title?: boolean;
  /** A title that says nothing alone, such as a number: its head stays with it. */
  keepHead?: boolean;
}

interface TableProps<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Rows with a link of class `cover` in a cell can be pressed anywhere. */
  linked?: boolean;
  /** Stays a table on a phone too, to be scrolled: for data whose columns have to be compared. */
  wide?: boolean;
  /** On a phone, values that tell by themselves what they are stand in a line below the title and the first column. */
  brief?: boolean;
}

export const Table = <T,>({
  caption,
  columns,
  rows,
  keyOf,
  linked = false,
  wide = false,
  brief = false,
}: TableProps<T>) => (
  <div className="table-wrap" role="group" aria-label={caption} tabIndex={0}>
    <table className={wide ? 'table' : brief ? 'table cards brief' : 'table cards'} role="table">
      <caption className="sr-only">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head, end, silent }) => (
            <th key={head} scope="col" role="columnheader" className={end === true ? 'end' : undefined}>
              {silent === true ? <span className="sr-only">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr role="row" key={keyOf(row)} className={linked ? 'linked' : undefined}>
            {columns.map(({ head, cell, end, silent, keepHead }, index) => (
              <td
                key={head}
                role="cell"
                data-head={silent === true || (index === titleOf(columns) && keepHead !== true) ? '' : head}
                className={
                  [end === true && 'end', silent === true && 'does', index === titleOf(columns) && 'title']
                    .filter(Boolean)
                    .join(' ') || undefined
                }
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const titleOf = <T,>(columns: readonly Column<T>[]): number =>
  Math.max(
    0,
    columns.findIndex(({ title }) => title === true),
  );
