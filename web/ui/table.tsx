import type { ReactNode } from 'react';

export interface Column<T> {
  head: string;
  cell: (row: T) => ReactNode;
  /** Numbers stand at the end. */
  end?: boolean;
  /** Only for those who can't see: a column of buttons. */
  silent?: boolean;
}

interface TableProps<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Rows with a link of class `cover` in a cell can be pressed anywhere. */
  linked?: boolean;
}

export const Table = <T,>({ caption, columns, rows, keyOf, linked = false }: TableProps<T>) => (
  <div className="table-wrap" role="region" aria-label={caption} tabIndex={0}>
    <table className="table">
      <caption className="sr-only">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ head, end, silent }) => (
            <th key={head} scope="col" className={end === true ? 'end' : undefined}>
              {silent === true ? <span className="sr-only">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} className={linked ? 'linked' : undefined}>
            {columns.map(({ head, cell, end }) => (
              <td key={head} className={end === true ? 'end' : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
