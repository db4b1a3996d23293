import {
  useCallback,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
  type CSSProperties,
  type ReactNode,
  type Ref,
} from 'react';
import { useEndWatch } from './end-watch.ts';

export interface VirtualListHandle {
  scrollTo(index: number): void;
  scrollToEnd(): void;
}

interface VirtualListProps {
  count: number;
  /** Of every row, in pixels. */
  rowHeight: number;
  row: (index: number) => ReactNode;
  /** Keeps the end in view while rows are added, until the reader scrolls up. */
  follow?: boolean;
  /** Told when the reader leaves the end, or comes back to it. */
  onFollow?: (atEnd: boolean) => void;
  label: string;
  className?: string;
  style?: CSSProperties;
  ref?: Ref<VirtualListHandle>;
}

const OVERSCAN = 12;

/** Any number of rows of one height, of which only those in view exist. */
export const VirtualList = (props: VirtualListProps) => {
  const { count, rowHeight, row, follow = false, onFollow, label, className = '', style, ref } = props;
  const box = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ from: 0, to: 60 });
  const end = useEndWatch(follow, onFollow, rowHeight * 1.5);
  const { placed } = end;
  const measure = useCallback((): void => {
    const node = box.current;
    if (node === null) return;
    const from = Math.max(0, Math.floor(node.scrollTop / rowHeight) - OVERSCAN);
    const to = Math.ceil((node.scrollTop + node.clientHeight) / rowHeight) + OVERSCAN;
    setRange((before) => (before.from === from && before.to === to ? before : { from, to }));
  }, [rowHeight]);

  useLayoutEffect(() => {
    const node = box.current;
    if (node === null) return undefined;
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, [measure]);
  useLayoutEffect(() => {
    const node = box.current;
    if (follow && node !== null) {
      node.scrollTop = node.scrollHeight;
      placed(node);
    }
    measure();
  }, [count, follow, measure, placed]);
  useImperativeHandle(ref, () => ({
    scrollTo: (index) => {
      const node = box.current;
      if (node === null) return;
      node.scrollTop = index * rowHeight - node.clientHeight / 3;
      placed(node);
    },
    scrollToEnd: () => {
      const node = box.current;
      if (node !== null) node.scrollTop = node.scrollHeight;
    },
  }));

  const onScroll = (): void => {
    measure();
    if (box.current !== null) end.scrolled(box.current);
  };
  const shown = Array.from(
    { length: Math.max(0, Math.min(count, range.to) - range.from) },
    (_none, index) => range.from + index,
  );
  const height: CSSProperties = { height: count * rowHeight, position: 'relative' };
  const offset: CSSProperties = { transform: `translateY(${range.from * rowHeight}px)` };
  return (
    <div
      ref={box}
      className={`virtual ${className}`}
      role="region"
      aria-label={label}
      tabIndex={0}
      style={style}
      onScroll={onScroll}
    >
      <div style={height}>
        <div style={offset}>{shown.map((index) => row(index))}</div>
      </div>
    </div>
  );
};
