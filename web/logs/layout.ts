/** Where rows stand, in pixels. */
export interface Layout {
  top: (index: number) => number;
  total: () => number;
  /** The row at a height. */
  at: (y: number) => number;
  /** Corrects the height of a row; tells whether that changed anything. */
  correct: (index: number, height: number) => boolean;
  /** There are so many rows now. */
  grow: (count: number) => void;
}

export const fixedLayout = (rowHeight: number): Layout => {
  let rows = 0;
  return {
    top: (index) => index * rowHeight,
    total: () => rows * rowHeight,
    at: (y) => Math.max(0, Math.min(rows - 1, Math.floor(y / rowHeight))),
    correct: () => false,
    grow: (count) => {
      rows = count;
    },
  };
};

/** Rows of different heights: guessed first, corrected once they were seen. */
export const guessedLayout = (guess: (index: number) => number): Layout => {
  let heights = new Float64Array(1024);
  let tops = new Float64Array(1025);
  let rows = 0;
  let valid = 0;
  const settle = (upTo: number): void => {
    for (; valid < upTo; valid += 1) tops[valid + 1] = (tops[valid] ?? 0) + (heights[valid] ?? 0);
  };
  const top = (index: number): number => {
    settle(index);
    return tops[index] ?? 0;
  };
  return {
    top,
    total: () => top(rows),
    at: (y) => {
      settle(rows);
      let low = 0;
      let high = rows - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((tops[middle] ?? 0) <= y) low = middle;
        else high = middle - 1;
      }
      return Math.max(0, low);
    },
    correct: (index, height) => {
      if (Math.abs((heights[index] ?? 0) - height) < 0.5) return false;
      heights[index] = height;
      valid = Math.min(valid, index);
      return true;
    },
    grow: (count) => {
      if (count > heights.length) {
        const more = new Float64Array(count * 2);
        more.set(heights);
        heights = more;
        const moreTops = new Float64Array(count * 2 + 1);
        moreTops.set(tops);
        tops = moreTops;
      }
      for (let index = rows; index < count; index += 1) heights[index] = guess(index);
      valid = Math.min(valid, count);
      rows = count;
    },
  };
};
