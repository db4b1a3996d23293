import { useCallback, useRef } from 'react';

interface EndWatch {
  /** To be called at each scroll event. */
  scrolled: (node: HTMLElement) => void;
  /** To be called after a scroll that the reader did not make. */
  placed: (node: HTMLElement) => void;
}

/**
 * Tells readers who leave the end of a list from a list that grows: a scroll event comes after the fact, when what was the end
 * may be the end no more. Only who moves up has left, and only who moves down has come back.
 */
export const useEndWatch = (
  follow: boolean,
  onFollow: ((atEnd: boolean) => void) | undefined,
  /** Pixels from the end that count as the end. */
  slack: number,
): EndWatch => {
  const last = useRef(0);
  const placed = useCallback((node: HTMLElement): void => {
    last.current = node.scrollTop;
  }, []);
  return {
    placed,
    scrolled: (node) => {
      const by = node.scrollTop - last.current;
      last.current = node.scrollTop;
      const atEnd = node.scrollTop + node.clientHeight >= node.scrollHeight - slack;
      if (follow ? by < 0 && !atEnd : by > 0 && atEnd) onFollow?.(!follow);
    },
  };
};
