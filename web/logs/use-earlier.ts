import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { at, call } from '../api.ts';
import { plainText, searcher, type NumberedLine } from './lines.ts';

export interface Earlier {
  /** Lines of the stored log before the ones in the page that have what is looked for, oldest first. */
  lines: readonly NumberedLine[];
  /** Whether there are still older ones. */
  more: boolean;
  reading: boolean;
  error: unknown;
  readMore: () => void;
}

interface EarlierWish {
  project: string;
  service: string;
  replica: string;
  release: string;
  typed: string;
  /** The first line in the page; what the server finds from there on is known already. */
  first: NumberedLine | undefined;
  enabled: boolean;
}

interface FoundPage {
  lines: NumberedLine[];
  next_cursor: string | null;
}

const PAGE = 100;
/** The server reads the whole stored log for an answer: not for every letter. */
const PAUSE_MS = 300;

/** Lets the server search what of the log is not in the page. */
export const useEarlier = ({ project, service, replica, release, typed, first, enabled }: EarlierWish): Earlier => {
  const text = usePaused(typed);
  const { data, error, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['log search', project, service, { replica, release, text, first: first?.seq ?? -1 }],
    queryFn: ({ signal, pageParam }) =>
      call<FoundPage>('GET', at('projects', project, 'services', service, 'logs', 'search'), {
        signal,
        query: { text, replica, release, order: 'newest', limit: PAGE, until: untilOf(first), cursor: pageParam },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    enabled: enabled && text !== '',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
  const current = text === typed && typed !== '';
  return {
    lines: current ? earlierOf(data?.pages ?? [], text, first) : [],
    more: current && hasNextPage,
    reading: enabled && typed !== '' && (!current || isFetching),
    error: current ? error : null,
    readMore: () => void fetchNextPage(),
  };
};

/** The server takes times to the millisecond, and leaves out what is not before it. */
const untilOf = (first: NumberedLine | undefined): string | undefined =>
  first === undefined ? undefined : new Date(Date.parse(first.ts) + 1).toISOString();

/** Pages come newest first. The server minds no capitals: the page does, when some are typed. */
export const earlierOf = (
  pages: readonly FoundPage[],
  typed: string,
  first: Pick<NumberedLine, 'seq'> | undefined,
): NumberedLine[] => {
  const find = searcher(typed);
  return pages
    .flatMap(({ lines }) => lines)
    .filter((line) => (first === undefined || line.seq < first.seq) && find?.(plainText(line)) !== -1)
    .reverse();
};

const usePaused = (typed: string): string => {
  const [text, setText] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setText(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return text;
};
