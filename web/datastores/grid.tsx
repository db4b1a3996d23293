import {
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
} from 'react';
import { CopyButton } from '../ui/code.tsx';
import { cellLine, cellText, isNumeric, widthsOf, type Columns, type Rows } from './cells.ts';

interface GridProps {
  label: string;
  columns: Columns;
  rows: Rows;
}

interface Place {
  row: number;
  column: number;
}

const ROW_PX = 30;
const OVERSCAN = 8;

/**
 * A result of any size: only the cells in view exist, in both directions. Arrows, Home, End and Page keys move, Ctrl+C copies
 * the cell; what is in it stands whole below.
 */
export const ResultGrid = ({ label, columns, rows }: GridProps) => {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const [at, setAt] = useState<Place>({ row: 0, column: 0 });
  const widths = useMemo(() => widthsOf(columns, rows), [columns, rows]);
  const lefts = useMemo(() => offsetsOf(widths), [widths]);
  const view = useView(box);
  useEffect(() => setAt({ row: 0, column: 0 }), [rows]);
  const go = (next: Place): void => {
    const place = { row: clamp(next.row, rows.length), column: clamp(next.column, columns.length) };
    setAt(place);
    if (box.current !== null) reveal(box.current, place, { lefts, widths });
  };
  const shownColumns = visible(lefts, widths, view);
  const first = Math.max(0, Math.floor(view.top / ROW_PX) - OVERSCAN);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW_PX) + OVERSCAN);
  const total = (lefts.at(-1) ?? 0) + (widths.at(-1) ?? 0);
  const value = rows[at.row]?.[at.column];
  return (
    <div className="grid-wrap">
      <div
        ref={box}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
        aria-activedescendant={rows.length > 0 ? `${id}-${at.row}-${at.column}` : undefined}
        aria-readonly
        tabIndex={0}
        className="grid"
        onKeyDown={(event) =>
          onKey(event, {
            at,
            rows: rows.length,
            columns: columns.length,
            page: Math.floor(view.height / ROW_PX) - 1,
            go,
            copied: cellText(value),
          })
        }
      >
        <div role="row" aria-rowindex={1} className="grid-head" style={{ width: total }}>
          {shownColumns.map((column) => (
            <span
              key={column}
              role="columnheader"
              aria-colindex={column + 1}
              style={placed(lefts, widths, column)}
              title={`${columns[column]?.name ?? ''} ${columns[column]?.type ?? ''}`}
            >
              <strong className="cut">{columns[column]?.name}</strong>
              <span className="cut">{columns[column]?.type}</span>
            </span>
          ))}
        </div>
        <div role="presentation" className="grid-body" style={{ width: total, height: rows.length * ROW_PX }}>
          {range(first, last).map((row) => (
            <div
              key={row}
              role="row"
              aria-rowindex={row + 2}
              className="grid-row"
              style={{ top: row * ROW_PX, width: total }}
            >
              {shownColumns.map((column) => (
                <Cell
                  key={column}
                  id={`${id}-${row}-${column}`}
                  value={rows[row]?.[column]}
                  numeric={isNumeric(columns[column]?.type ?? '')}
                  chosen={at.row === row && at.column === column}
                  column={column}
                  style={placed(lefts, widths, column)}
                  onChoose={() => setAt({ row, column })}
                />
              ))}
            </div>
          ))}
        </div>
      </div>
      {rows.length > 0 && (
        <Inspector
          value={value}
          name={columns[at.column]?.name ?? ''}
          type={columns[at.column]?.type ?? ''}
          row={at.row}
        />
      )}
    </div>
  );
};

interface CellProps {
  id: string;
  value: unknown;
  numeric: boolean;
  chosen: boolean;
  column: number;
  style: CSSProperties;
  onChoose: () => void;
}

const Cell = ({ id, value, numeric, chosen, column, style, onChoose }: CellProps) => (
  // The grid itself takes the keys and keeps the focus.
  // oxlint-disable-next-line jsx_a11y/click-events-have-key-events, jsx_a11y/interactive-supports-focus
  <span
    id={id}
    role="gridcell"
    aria-colindex={column + 1}
    aria-selected={chosen}
    className={`cut${value === null || value === undefined ? ' null' : ''}${numeric ? ' end' : ''}`}
    style={style}
    onClick={onChoose}
  >
    {cellLine(value)}
  </span>
);

const LONGEST_SHOWN = 100_000;

/** The chosen cell, whole. */
const Inspector = ({ value, name, type, row }: { value: unknown; name: string; type: string; row: number }) => {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : cellText(value);
  return (
    <div className="inspector">
      <div className="row">
        <span className="grow cut small">
          <strong>{name}</strong> <span className="quiet">{type}</span> <span className="faint">row {row + 1}</span>
        </span>
        <CopyButton text={value === null || value === undefined ? '' : cellText(value)} label="Copy cell" />
      </div>
      <pre
        tabIndex={0}
        role="region"
        aria-label="Chosen cell"
        className={value === null || value === undefined ? 'null' : undefined}
      >
        {text.slice(0, LONGEST_SHOWN)}
      </pre>
    </div>
  );
};

interface View {
  top: number;
  left: number;
  width: number;
  height: number;
}

const useView = (box: { current: HTMLDivElement | null }): View => {
  const [view, setView] = useState<View>({ top: 0, left: 0, width: 1200, height: 600 });
  useLayoutEffect(() => {
    const node = box.current;
    if (node === null) return undefined;
    const measure = (): void =>
      setView({ top: node.scrollTop, left: node.scrollLeft, width: node.clientWidth, height: node.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    node.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      node.removeEventListener('scroll', measure);
    };
  }, [box]);
  return view;
};

const offsetsOf = (widths: readonly number[]): number[] => {
  let sum = 0;
  return widths.map((width) => {
    sum += width;
    return sum - width;
  });
};

const visible = (lefts: readonly number[], widths: readonly number[], { left, width }: View): number[] =>
  lefts.flatMap((start, index) =>
    start + (widths[index] ?? 0) >= left - 300 && start <= left + width + 300 ? [index] : [],
  );

const placed = (lefts: readonly number[], widths: readonly number[], column: number): CSSProperties => ({
  left: lefts[column] ?? 0,
  width: widths[column] ?? 0,
});

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_none, index) => from + index);

const clamp = (value: number, length: number): number => Math.max(0, Math.min(length - 1, value));

const reveal = (
  node: HTMLElement,
  { row, column }: Place,
  { lefts, widths }: { lefts: readonly number[]; widths: readonly number[] },
): void => {
  const top = row * ROW_PX;
  const room = node.clientHeight - HEAD_PX;
  if (top < node.scrollTop) node.scrollTop = top;
  else if (top + ROW_PX > node.scrollTop + room) node.scrollTop = top + ROW_PX - room;
  const left = lefts[column] ?? 0;
  const right = left + (widths[column] ?? 0);
  if (left < node.scrollLeft) node.scrollLeft = left;
  else if (right > node.scrollLeft + node.clientWidth) node.scrollLeft = right - node.clientWidth;
};

const HEAD_PX = 44;

interface Keys {
  at: Place;
  rows: number;
  columns: number;
  page: number;
  go: (place: Place) => void;
  copied: string;
}

const onKey = (event: KeyboardEvent, { at, rows, columns, page, go, copied }: Keys): void => {
  const modified = event.ctrlKey || event.metaKey;
  if (modified && event.key === 'c' && getSelection()?.toString() === '') {
    event.preventDefault();
    void navigator.clipboard.writeText(copied);
    return;
  }
  const steps: Record<string, Place> = {
    ArrowUp: { ...at, row: at.row - 1 },
    ArrowDown: { ...at, row: at.row + 1 },
    ArrowLeft: { ...at, column: at.column - 1 },
    ArrowRight: { ...at, column: at.column + 1 },
    PageUp: { ...at, row: at.row - page },
    PageDown: { ...at, row: at.row + page },
    Home: { row: modified ? 0 : at.row, column: 0 },
    End: { row: modified ? rows - 1 : at.row, column: columns - 1 },
  };
  const next = steps[event.key];
  if (next === undefined || event.altKey) return;
  event.preventDefault();
  go(next);
};
