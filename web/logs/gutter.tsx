import { Link } from 'wouter';
import { to } from '../locations.ts';
import type { NumberedLine } from './lines.ts';

/** Lines of the moment before a linked one are shown with it. */
const BEFORE_MS = 2_000;

/** The address of a line, which is found again by its time and number. */
export const lineLink = ({
  project,
  service,
  line,
}: {
  project: string;
  service: string;
  line: NumberedLine;
}): string => {
  const since = new Date(Date.parse(line.ts) - BEFORE_MS).toISOString();
  return `${to('logs', { project, service })}?${new URLSearchParams({ since, line: String(line.seq) }).toString()}`;
};

/** Time and replica of a line; the time links to it. */
export const Gutter = ({ project, service, line }: { project: string; service: string; line: NumberedLine }) => (
  <>
    <Link
      href={lineLink({ project, service, line })}
      tabIndex={-1}
      className="journal-time"
      title={`${line.ts} · ${line.replica} · ${line.release} · ${line.stream}`}
    >
      {localClock(line.ts)}
    </Link>
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
