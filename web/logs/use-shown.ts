import { useCallback, useState } from 'react';
import type { Lines, NumberedLine } from './lines.ts';
import type { LogChoices } from './use-choices.ts';
import { useEarlier, type Earlier } from './use-earlier.ts';
import { useSearch } from './use-search.ts';
import type { ServiceLogView } from './use-service-log.ts';

interface ShownWish {
  project: string;
  service: string;
  choices: LogChoices;
  view: ServiceLogView;
}

/** Which lines the list has: all in the page, or all that match, from before the page too. */
export const useShown = ({ project, service, choices, view: { lines, version, state } }: ShownWish) => {
  const { replica, release, since, tail, typed } = choices;
  const found = useSearch(lines, version, typed);
  const [only, setOnly] = useState(false);
  const narrowed = only && typed !== '';
  // Fewer than were asked for are all that there are.
  const enabled = state !== 'loading' && (since !== '' || lines.dropped + lines.all.length >= tail);
  const earlier = useEarlier({ project, service, replica, release, typed, first: lines.all[0], enabled });
  const ahead = earlier.lines.length;
  const lineAt = useCallback(
    (index: number): NumberedLine | undefined => {
      if (!narrowed) return lines.all[index];
      return index < ahead ? earlier.lines[index] : lines.all[found[index - ahead] ?? -1];
    },
    // `version` stands for what changes inside of `lines`, `ahead` for what was found before them.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [lines, narrowed, narrowed ? found : version, ahead],
  );
  const total = ahead + found.length;
  return { found, earlier, only, setOnly, narrowed, lineAt, total, count: narrowed ? total : lines.all.length };
};

interface Matches {
  lines: Lines;
  /** Indices of those in the page. */
  found: readonly number[];
  earlier: Pick<Earlier, 'lines'>;
}

/** Which match a line is, from the oldest on; -1 for none. */
export const placeIn = ({ lines, found, earlier }: Matches, seq: number): number => {
  const before = earlier.lines.findIndex((line) => line.seq === seq);
  if (before !== -1) return before;
  const at = found.findIndex((index) => lines.all[index]?.seq === seq);
  return at === -1 ? -1 : earlier.lines.length + at;
};

/** The match at a place, which goes round at both ends; `index` is where it stands in the page. */
export const matchAt = (
  { lines, found, earlier }: Matches,
  place: number,
): { place: number; index: number | undefined; line: NumberedLine | undefined } => {
  const ahead = earlier.lines.length;
  const total = Math.max(1, ahead + found.length);
  const wrapped = ((place % total) + total) % total;
  const index = found[wrapped - ahead];
  return { place: wrapped, index, line: wrapped < ahead ? earlier.lines[wrapped] : lines.all[index ?? -1] };
};
