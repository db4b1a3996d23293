import type { Event } from '#modules/events';
import { Glyph, type Tone } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';

/** What an event means, by how its kind ends. */
export const toneOfEvent = (kind: Event['kind']): Tone => {
  if (/(?:failed|oom_killed|crash_loop|data_missing)$/.test(kind)) return 'bad';
  if (/(?:exited|rolled_back|read_only|canceled)$/.test(kind)) return 'warn';
  if (/(?:succeeded|ready|verified|created)$/.test(kind)) return 'ok';
  return 'idle';
};

const SUBJECTS = ['service', 'datastore', 'repo', 'name', 'token'] as const;

/** What it happened to, as far as the event says. */
export const subjectOf = ({ data }: Event): string =>
  SUBJECTS.map((key) => data[key]).find((value) => typeof value === 'string') ?? '';

/** `deploy succeeded`, of `deploy.succeeded`. */
export const wordsOf = (kind: Event['kind']): string => kind.replace('.', ' ').replaceAll('_', ' ');

export const EventRows = ({ events }: { events: readonly Event[] }) => {
  if (events.length === 0) return <p className="card-body quiet">Nothing has happened yet.</p>;
  return (
    <ul className="plain-rows">
      {events.map((event) => (
        <li key={event.id}>
          <Glyph tone={toneOfEvent(event.kind)} />
          <span className="grow cut">
            {wordsOf(event.kind)} <strong>{subjectOf(event)}</strong> <span className="quiet">by {event.actor}</span>
          </span>
          <span className="small quiet">
            <Ago at={event.ts} />
          </span>
        </li>
      ))}
    </ul>
  );
};
