import type { MouseEvent } from 'react';
import { to } from '../locations.ts';
import type { NumberedLine } from './lines.ts';

/** Lines of the moment before a linked one are shown with it. */
const BEFORE_MS = 2_000;

/** What of an address finds a line again: a time shortly before it, and its number. */
export const placeOf = (line: NumberedLine): { since: string; line: string } => ({
  since: new Date(Date.parse(line.ts) - BEFORE_MS).toISOString(),
  line: String(line.seq),
});

export const lineLink = ({
  project,
  service,
  line,
}: {
  project: string;
  service: string;
  line: NumberedLine;
}): string => `${to('logs', { project, service })}?${new URLSearchParams(placeOf(line)).toString()}`;

interface GutterProps {
  project: string;
  service: string;
  line: NumberedLine;
  onOpen: (place: { since: string; line: string }) => void;
}

/** Time and replica of a line; the time links to it. A link of the router for each row would slow scrolling down. */
export const Gutter = ({ project, service, line, onOpen }: GutterProps) => (
  <>
    <a
      href={lineLink({ project, service, line })}
      tabIndex={-1}
      className="journal-time"
      title={`${line.ts} · ${line.replica} · ${line.release} · ${line.stream}`}
      onClick={(event: MouseEvent) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        onOpen(placeOf(line));
      }}
    >
      {localClock(line.ts)}
    </a>
    <span className="journal-replica" title={line.replica}>
      {shortReplica(line.replica)}
    </span>
  </>
);

const PAD = 2;

const localClock = (ts: string): string => {
  const time = new Date(ts);
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(PAD, '0'));
  return `${parts.join(':')}.${String(time.getMilliseconds()).padStart(3, '0')}`;
};

/** The end of a replica's name tells it from the others. */
const shortReplica = (name: string): string => name.slice(name.lastIndexOf('-') + 1).slice(-6);
