/** What many measurements of one thing come to. */
export interface Summary {
  median: number;
  p95: number;
  count: number;
}

/** The value below which `share` of the sorted values lie, by the nearest rank: always one that was measured. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((left, right) => left - right);
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  const value = sorted[rank - 1];
  if (value === undefined) throw new Error('nothing was measured');
  return value;
};

/** The middle value; between two middle ones, their mean. */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new Error('nothing was measured');
  return (upper + lower) / 2;
};

/** `worst` says which end the 95 % are counted towards: 'low' for rates, where little is bad. */
export const summarise = (values: readonly number[], worst: 'high' | 'low' = 'high'): Summary => ({
  median: median(values),
  p95:
    worst === 'high'
      ? percentile(values, 0.95)
      : -percentile(
          values.map((value) => -value),
          0.95,
        ),
  count: values.length,
});
