import { useEffect, useId, useRef, useState, type KeyboardEvent, type RefObject } from 'react';
import type uPlot from 'uplot';
import { clockTime, date } from '../ui/format.ts';
import { inWords, latestOf, type ChartData } from './series.ts';

interface ChartProps {
  chart: ChartData;
  range: string;
  /** The place looked at, by its index; the same in all charts of a page. */
  cursor: number | undefined;
  onCursor: (index: number | undefined) => void;
}

const HEIGHT = 160;
const DAY_SECONDS = 86_400;

/** Lines over time. By keyboard: the arrows move along, Home and End go to the ends, Escape leaves. */
export const Chart = ({ chart, range, cursor, onCursor }: ChartProps) => {
  const { title, times, series, write } = chart;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  usePlot(box, { chart, cursor, onCursor });
  const at = Math.min(cursor ?? times.length - 1, times.length - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    const last = times.length - 1;
    const here = cursor ?? last;
    const step = event.shiftKey ? 10 : 1;
    const to: Record<string, number | undefined> = {
      ArrowLeft: Math.max(0, here - step),
      ArrowRight: Math.min(last, here + step),
      Home: 0,
      End: last,
    };
    if (event.key === 'Escape') return onCursor(undefined);
    const next = to[event.key];
    if (next === undefined) return undefined;
    event.preventDefault();
    onCursor(next);
    return undefined;
  };
  return (
    <figure className="card chart" aria-labelledby={`${id}-title`}>
      <figcaption className="chart-head">
        <h2 id={`${id}-title`}>{title}</h2>
        <span className="small quiet">{cursor === undefined ? 'now' : timeText(times, at)}</span>
      </figcaption>
      <ul className="chart-legend small">
        {series.map(({ name, values }, index) => (
          <li key={name}>
            <i className={`swatch s${index}`} aria-hidden="true" />
            {name} <strong>{valueText(cursor === undefined ? latestOf(values) : values[at], write)}</strong>
          </li>
        ))}
      </ul>
      <div
        ref={box}
        className="chart-box"
        role="group"
        tabIndex={0}
        aria-label={`${title} over time`}
        aria-describedby={`${id}-words`}
        onKeyDown={onKeyDown}
        onBlur={() => onCursor(undefined)}
      />
      <p id={`${id}-words`} className="sr-only">
        {inWords(chart, range)} Move along with the arrow keys.
      </p>
      <p className="sr-only" role="status">
        {cursor !== undefined && document.activeElement === box.current
          ? `${timeText(times, at)}: ${series.map(({ name, values }) => `${name} ${valueText(values[at], write)}`).join(', ')}`
          : ''}
      </p>
    </figure>
  );
};

const valueText = (value: number | null | undefined, write: (value: number) => string): string =>
  value === null || value === undefined ? '–' : write(value);

const timeText = (times: readonly number[], index: number): string => {
  const time = (times[index] ?? 0) * 1000;
  const long = (times.at(-1) ?? 0) - (times[0] ?? 0) > DAY_SECONDS;
  return long ? `${date(time)}, ${clockTime(time)}` : clockTime(time);
};

interface PlotProps {
  chart: ChartData;
  cursor: number | undefined;
  onCursor: (index: number | undefined) => void;
}

/** Draws with uPlot, which is loaded when the first chart is. */
const usePlot = (box: RefObject<HTMLDivElement | null>, { chart, cursor, onCursor }: PlotProps): void => {
  const plot = useRef<uPlot>(undefined);
  const latest = useRef({ onCursor, chart });
  latest.current = { onCursor, chart };
  const theme = useThemeChanges();
  const shape = `${theme} ${chart.series.map(({ name }) => name).join(' ')}`;
  useEffect(() => {
    let gone = false;
    const node = box.current;
    const observer = new ResizeObserver(() => {
      if (node !== null) plot.current?.setSize({ width: node.clientWidth, height: HEIGHT });
    });
    const draw = async (): Promise<void> => {
      const { default: Plot } = await import('uplot');
      if (gone || node === null) return;
      const move = (index: number | null | undefined): void => latest.current.onCursor(index ?? undefined);
      plot.current = new Plot(optionsOf(latest.current.chart, node, move), dataOf(latest.current.chart), node);
      observer.observe(node);
    };
    void draw();
    return () => {
      gone = true;
      observer.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [box, shape]);
  useEffect(() => plot.current?.setData(dataOf(chart)), [chart]);
  useEffect(() => {
    const drawn = plot.current;
    if (drawn === undefined || cursor === drawn.cursor.idx) return;
    const time = chart.times[cursor ?? -1];
    drawn.setCursor({ left: time === undefined ? -10 : drawn.valToPos(time, 'x'), top: 10 }, false);
  }, [chart, cursor]);
};

const dataOf = ({ times, series }: ChartData): uPlot.AlignedData => [times, ...series.map(({ values }) => values)];

const optionsOf = (
  { series, write, inBytes = false }: ChartData,
  node: HTMLElement,
  onMove: (index: number | null | undefined) => void,
): uPlot.Options => {
  const colour = (name: string): string => resolved(node, name);
  const grid = { stroke: colour('--line'), width: 1 };
  const font = `12px ${getComputedStyle(node).fontFamily}`;
  const axis = { stroke: colour('--text-3'), grid, ticks: { show: false }, font };
  return {
    width: node.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    // At the right, half of the last time.
    padding: [8, 18, 0, 0],
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 6 } },
    scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.15 : 1] } },
    axes: [
      { ...axis, size: 28, space: 64, values: (_plot, splits) => splits.map((second) => tickText(second, splits)) },
      {
        ...axis,
        size: 72,
        values: (_plot, splits) => splits.map((value) => write(value)),
        space: 36,
        ...(inBytes && { incrs: POWERS_OF_TWO }),
      },
    ],
    series: [
      {},
      ...series.map((_one, index) => ({
        stroke: colour(`--series-${index % 8}`),
        width: 1.5,
        ...(index > 0 && { dash: DASHES[index % DASHES.length] ?? [] }),
        ...(series.length === 1 && { fill: colour('--series-wash') }),
        points: { show: false },
        spanGaps: false,
      })),
    ],
    hooks: {
      setCursor: [
        // Only of the chart under the pointer: the others are moved by it.
        (plot) => {
          if (plot.over.matches(':hover'))
            onMove(plot.cursor.left === undefined || plot.cursor.left < 0 ? undefined : plot.cursor.idx);
        },
      ],
      ready: [(plot) => plot.over.addEventListener('pointerleave', () => onMove(undefined))],
    },
  };
};

const POWERS_OF_TWO = Array.from({ length: 50 }, (_none, power) => 2 ** power);

const PAD = 2;

/** The hour; where a tick begins a day, the day. */
const tickText = (second: number, splits: readonly number[]): string => {
  const time = new Date(second * 1000);
  const isMidnight = time.getHours() === 0 && time.getMinutes() === 0;
  const isLong = (splits.at(-1) ?? 0) - (splits[0] ?? 0) >= DAY_SECONDS;
  if (isMidnight && isLong) return `${time.getDate()}.${time.getMonth() + 1}.`;
  return `${time.getHours()}:${String(time.getMinutes()).padStart(PAD, '0')}`;
};

const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

/** The value of a colour's name as the canvas takes it: `light-dark()` and mixes are worked out by the browser. */
const resolved = (node: HTMLElement, name: string): string => {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  node.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

/** Grows when the theme changes, by the page's switch or the system's. */
const useThemeChanges = (): number => {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const changed = (): void => setChanges((before) => before + 1);
    const system = matchMedia('(prefers-color-scheme: dark)');
    const observer = new MutationObserver(changed);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    system.addEventListener('change', changed);
    return () => {
      observer.disconnect();
      system.removeEventListener('change', changed);
    };
  }, []);
  return changes;
};
