import { useRef } from 'react';

/**
 * Tells readers who leave the end of a list from a list that grows: a scroll event comes after the fact, when what was the end
 * may be the end no more. Only who moves up has left. Gives what to call at each scroll event.
 */
export const useEndWatch = (
  follow: boolean,
  onFollow: ((atEnd: boolean) => void) | undefined,
  /** Pixels from the end that count as the end. */
  slack: number,
): ((node: HTMLElement) => void) => {
  const last = useRef(0);
  return (node) => {
    const movedUp = node.scrollTop < last.current;
    last.current = node.scrollTop;
    const atEnd = node.scrollTop + node.clientHeight >= node.scrollHeight - slack;
    if (follow ? movedUp && !atEnd : atEnd) onFollow?.(!follow);
  };
};
