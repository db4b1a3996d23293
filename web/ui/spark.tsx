interface SparkProps {
  /** In order; null where nothing is known. */
  values: readonly (number | null)[];
  /** The top of the scale; the largest value when omitted. */
  max?: number;
  width?: number;
  height?: number;
  /** The same in words. */
  label: string;
}

/** A line without axes, for a glance; values between gaps are not joined. */
export const Sparkline = ({ values, max, width = 120, height = 28, label }: SparkProps) => {
  const top = Math.max(max ?? 0, ...values.map((value) => value ?? 0), Number.EPSILON);
  const step = width / Math.max(1, values.length - 1);
  const point = (value: number, index: number): string =>
    `${(index * step).toFixed(1)} ${(height - (Math.min(value, top) / top) * (height - 2) - 1).toFixed(1)}`;
  const runs = runsOf(values);
  return (
    <svg
      className="spark"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {runs.map(({ from, run }) => {
        const points = run.map((value, index) => point(value, from + index)).join(' L');
        const left = (from * step).toFixed(1);
        const right = ((from + run.length - 1) * step).toFixed(1);
        return (
          <g key={from}>
            <path className="area" d={`M${left} ${height} L${points} L${right} ${height} Z`} />
            <path className="line" d={`M${points}${run.length === 1 ? ' h0.1' : ''}`} />
          </g>
        );
      })}
    </svg>
  );
};

const runsOf = (values: readonly (number | null)[]): { from: number; run: number[] }[] => {
  const runs: { from: number; run: number[] }[] = [];
  let open: { from: number; run: number[] } | undefined;
  for (const [index, value] of values.entries()) {
    if (value === null) open = undefined;
    else if (open === undefined) runs.push((open = { from: index, run: [value] }));
    else open.run.push(value);
  }
  return runs;
};
