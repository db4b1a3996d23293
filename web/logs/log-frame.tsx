import { useMemo, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { count as counted } from '../ui/format.ts';
import { Empty, SkeletonLines } from '../ui/layout.tsx';
import { MOST_LINES } from './lines.ts';
import type { LogChoices } from './use-choices.ts';
import type { Earlier } from './use-earlier.ts';

/** What the list does, in words that are spoken as it changes. */
export const statusText = (state: string, follow: boolean, fresh: number): string => {
  if (state === 'loading') return 'Reading the log';
  if (state === 'window') return `The first ${MOST_LINES.toLocaleString()} lines from here on; there are more`;
  if (follow) return 'Following';
  // Spoken, so in steps: not at every line.
  return fresh === 0 ? 'Paused' : `Paused, ${fresh < 10 ? 'a few' : fresh < 100 ? 'tens of' : 'hundreds of'} new lines`;
};

const STEPS = [2_000, 20_000, MOST_LINES];

/** Above the first line: whether there may be more, and how to get them. */
export const Before = ({
  choices,
  shown,
  dropped,
  state,
}: {
  choices: LogChoices;
  shown: number;
  dropped: number;
  state: string;
}) => {
  const more = useMemo(() => STEPS.find((step) => step > choices.tail), [choices.tail]);
  if (choices.since !== '')
    return (
      <p className="journal-before small">
        From {new Date(choices.since).toLocaleString()} on
        <Button slim look="quiet" onClick={() => choices.set({ since: '', line: '' })}>
          Newest instead
        </Button>
      </p>
    );
  if (state === 'loading' || shown + dropped < choices.tail || more === undefined) return null;
  return (
    <p className="journal-before small">
      The newest {choices.tail.toLocaleString()} lines and what came since
      <Button slim look="quiet" onClick={() => choices.set({ tail: String(more) })}>
        Show {more.toLocaleString()}
      </Button>
    </p>
  );
};

/** Above the first match: whether the stored log may have more of them. */
export const BeforeMatches = ({ earlier: { lines, more, reading, readMore } }: { earlier: Earlier }) => {
  if (!more && !reading && lines.length === 0) return null;
  return (
    <p className="journal-before small">
      {reading && lines.length === 0
        ? 'Searching the stored log'
        : `${counted(lines.length, 'match', 'matches')} from before the lines in this page`}
      {more && (
        <Button slim look="quiet" busy={reading} onClick={readMore}>
          Search further back
        </Button>
      )}
    </p>
  );
};

export const Nothing = ({ state, narrowed }: { state: string; narrowed: boolean }) => {
  if (state === 'loading') return <SkeletonLines lines={5} />;
  return (
    <Empty icon="logs" title={narrowed ? 'No line fits' : 'Nothing logged yet'}>
      {narrowed
        ? 'Loosen the filters or go further back. What comes from now on is shown here as it fits.'
        : 'What the replicas write to standard output and standard error appears here as they write it.'}
    </Empty>
  );
};

export const Foot = ({ status, lines, children }: { status: string; lines: number; children: ReactNode }) => (
  <p className="journal-foot small quiet">
    <span role="status">{status}</span>
    <span>{counted(lines, 'line')}</span>
    {children}
  </p>
);
