/** Characters of a tool's result: what a model reads at once without losing the thread. */
export const RESULT_LIMIT = 64 * 1024;

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

/** Empties these lists, in this order, until the rest is short enough, and says so. */
export const bounded = (data: object, lists: readonly string[]): Record<string, unknown> => {
  const rest: Record<string, unknown> = { ...data };
  for (const name of lists) {
    if (sizeOf(rest) <= RESULT_LIMIT) return rest;
    rest[name] = [];
    rest['shortened'] = true;
  }
  return rest;
};

/** As many items from the start as fit. */
export const firstThatFit = <T>(items: readonly T[], limit = RESULT_LIMIT): T[] => {
  let size = 0;
  const end = items.findIndex((item) => (size += sizeOf(item) + 1) > limit);
  return end === -1 ? [...items] : items.slice(0, end);
};

/** As many items from the end as fit. */
export const lastThatFit = <T>(items: readonly T[], limit = RESULT_LIMIT): T[] =>
  firstThatFit([...items].reverse(), limit).reverse();
