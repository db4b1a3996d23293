import {
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
  type Ref,
  type RefObject,
} from 'react';
import { useEndWatch } from '../ui/end-watch.ts';
import { fixedLayout, guessedLayout, type Layout } from './layout.ts';
import { plainText } from './lines.ts';
import { LogRow, type ShownLine } from './log-row.tsx';

export interface LogListHandle {
  /** Brings a line into the upper third. */
  show: (index: number) => void;
  /** The first line in view. */
  first: () => number;
  focus: () => void;
}

interface LogListProps<T extends ShownLine> {
  count: number;
  /** Lines in order of `seq`. */
  lineAt: (index: number) => T | undefined;
  /** Another one when `lineAt` means other lines than before. */
  generation: unknown;
  wrap: boolean;
  /** Keeps the end in view. */
  follow: boolean;
  /** Told when the reader leaves the end, or comes back to it. */
  onFollow: (atEnd: boolean) => void;
  gutter: (line: T) => ReactNode;
  lookOf?: (line: T) => string;
  typed?: string;
  label: string;
  ref?: Ref<LogListHandle>;
}

/** As in logs.css. */
const ROW = 20;
const OVERSCAN = 6;

/** Any number of log lines, of which only those in view exist. Wrapped lines are measured once they are seen. */
export const LogList = <T extends ShownLine>(props: LogListProps<T>) => {
  const { count, lineAt, generation, wrap, follow, onFollow, gutter, lookOf, typed = '', label, ref } = props;
  const box = useRef<HTMLDivElement>(null);
  const columns = useColumns(box, wrap);
  const latest = useRef(lineAt);
  latest.current = lineAt;
  const layout = useMemo<Layout>(() => {
    if (!wrap) return fixedLayout(ROW);
    return guessedLayout((index) => ROW * rowsOf(latest.current(index), columns));
    // A new generation of lines needs a layout of its own.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [wrap, columns, generation]);
  layout.grow(count);
  const { range, anchor, measure } = useRange(box, layout, latest);
  const end = useEndWatch(follow, onFollow, ROW * 1.5);
  const { placed } = end;
  const [, redraw] = useState(0);

  useLayoutEffect(() => {
    const node = box.current;
    if (node === null) return;
    const wanted = follow ? node.scrollHeight : keptPlace(node, { layout, count, lineAt, anchor: anchor.current });
    if (wanted !== undefined) {
      node.scrollTop = wanted;
      placed(node);
    }
    measure();
  }, [count, follow, layout, lineAt, anchor, measure, placed]);
  // After every layout, and only while a height was guessed wrong.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useLayoutEffect(() => {
    if (wrap && box.current !== null && correctHeights(box.current, layout, range.from)) redraw((before) => before + 1);
  });
  useImperativeHandle(ref, () => ({
    show: (index) => {
      const node = box.current;
      if (node === null) return;
      node.scrollTop = layout.top(index) - node.clientHeight / 3;
      placed(node);
      measure();
    },
    first: () => layout.at(box.current?.scrollTop ?? 0),
    focus: () => box.current?.focus({ preventScroll: true }),
  }));

  const onScroll = (): void => {
    measure();
    if (box.current !== null) end.scrolled(box.current);
  };
  const to = Math.min(count, range.to);
  const from = Math.min(range.from, to);
  const shown = Array.from({ length: to - from }, (_none, index) => lineAt(from + index)).filter(
    (line) => line !== undefined,
  );
  // Rows that leave lend their elements to those that come: nothing is made anew while scrolling.
  const slots = 2 ** Math.ceil(Math.log2(to - from + 1));
  return (
    <div
      ref={box}
      className={wrap ? 'journal-list wrap' : 'journal-list'}
      role="region"
      aria-label={label}
      tabIndex={0}
      onScroll={onScroll}
    >
      <span className="journal-probe" aria-hidden="true">
        0000000000
      </span>
      <div className="journal-all" style={{ height: layout.total() }}>
        <div className="journal-shown" style={{ transform: `translateY(${layout.top(from)}px)` }}>
          {shown.map((line, index) => (
            <LogRow
              key={(from + index) % slots}
              line={line}
              gutter={gutter}
              typed={typed}
              look={lookOf?.(line) ?? ''}
            />
          ))}
        </div>
      </div>
    </div>
  );
};

interface Anchor {
  seq: number;
  /** Pixels between the top of the view and of that line. */
  below: number;
}

/** Which rows are in view, and the line that stands at its top. */
const useRange = (
  box: RefObject<HTMLDivElement | null>,
  layout: Layout,
  lineAt: RefObject<(index: number) => ShownLine | undefined>,
) => {
  const [range, setRange] = useState({ from: 0, to: 60 });
  const anchor = useRef<Anchor>(undefined);
  const measure = useCallback((): void => {
    const node = box.current;
    if (node === null) return;
    const first = layout.at(node.scrollTop);
    const line = lineAt.current(first);
    anchor.current = line === undefined ? undefined : { seq: line.seq, below: node.scrollTop - layout.top(first) };
    const from = Math.max(0, first - OVERSCAN);
    const to = layout.at(node.scrollTop + node.clientHeight) + OVERSCAN;
    setRange((before) => (before.from === from && before.to === to ? before : { from, to }));
  }, [box, layout, lineAt]);
  useEffect(() => {
    const node = box.current;
    if (node === null) return undefined;
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, [box, measure]);
  return { range, anchor, measure };
};

interface Place {
  layout: Layout;
  count: number;
  lineAt: (index: number) => ShownLine | undefined;
  anchor: Anchor | undefined;
}

/** Where to scroll so that what was read stays where it was, although lines above it went or changed their height. */
const keptPlace = (node: HTMLElement, { layout, count, lineAt, anchor }: Place): number | undefined => {
  if (anchor === undefined) return undefined;
  const wanted = layout.top(indexOfSeq(count, lineAt, anchor.seq)) + anchor.below;
  return Math.abs(node.scrollTop - wanted) > 1 ? wanted : undefined;
};

/** The first line with this sequence number or a higher one. */
export const indexOfSeq = (count: number, lineAt: (index: number) => ShownLine | undefined, seq: number): number => {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lineAt(middle)?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
};

const correctHeights = (node: HTMLElement, layout: Layout, from: number): boolean => {
  let changed = false;
  for (const [index, row] of [...node.querySelectorAll<HTMLElement>('.journal-row')].entries())
    changed = layout.correct(from + index, row.offsetHeight) || changed;
  return changed;
};

/** How many characters fit beside the gutter. */
const useColumns = (box: RefObject<HTMLDivElement | null>, wrap: boolean): number => {
  const [columns, setColumns] = useState(100);
  useEffect(() => {
    const node = box.current;
    if (node === null || !wrap) return undefined;
    const observer = new ResizeObserver(() => {
      const probe = node.querySelector<HTMLElement>('.journal-probe')?.offsetWidth ?? 80;
      const width = node.querySelector<HTMLElement>('.journal-text')?.clientWidth ?? node.clientWidth;
      setColumns(Math.max(10, Math.floor(width / (probe / 10))));
    });
    observer.observe(node);
    return () => observer.disconnect();
  }, [box, wrap]);
  return columns;
};

const rowsOf = (line: { line: string } | undefined, columns: number): number =>
  line === undefined ? 1 : Math.max(1, Math.ceil(plainText(line).length / columns));
