/** The candidate with the fewest edits to the word, when there are at most `limit`; an equal word is no near miss. */
export const nearest = (word: string, candidates: readonly string[], limit: number): string | undefined => {
  if (word.length > 64) return undefined;
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= limit && candidate !== word)
    .sort((left, right) => left.edits - right.edits);
  return ranked[0]?.candidate;
};

const distance = (left: string, right: string): number => {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const change = left[row - 1] === right[column - 1] ? 0 : 1;
      const candidates = [
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + change,
      ];
      current.push(Math.min(...candidates));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
};
