/** Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. */
export const editDistance = (a: string, b: string): number => {
  let before: number[] = [];
  let last: number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
};

/** The known word that was probably meant; undefined when none is near. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  const ranked = known
    .map((candidate) => ({
      candidate,
      distance: candidate.startsWith(word) && word.length > 1 ? 1 : editDistance(word, candidate),
    }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  const allowed = Math.max(1, Math.floor(word.length / 3));
  return best !== undefined && best.distance <= allowed ? best.candidate : undefined;
};

/** ` Did you mean "x"?`-style ending of a hint, or the fallback. */
export const didYouMean = (word: string, known: readonly string[], fallback: string): string => {
  const guess = nearest(word, known);
  return guess === undefined ? fallback : `did you mean "${guess}"?`;
};
