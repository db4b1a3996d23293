import type { Event } from '#modules/events';
import { folded, nameOf, subjectOf, toneOf } from '../events/kinds.ts';
import { Glyph } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';

/** The newest events first, of each run the newest. */
export const EventRows = ({ events, most }: { events: readonly Event[]; most: number }) => {
  if (events.length === 0) return <p className="card-body quiet">Nothing has happened yet.</p>;
  return (
    <ul className="plain-rows">
      {folded(events)
        .slice(0, most)
        .map(({ event, times }) => (
          <li key={event.id}>
            <Glyph tone={toneOf(event.kind)} />
            <span className="grow cut">
              {nameOf(event.kind)} <strong>{subjectOf(event)}</strong> <span className="quiet">by {event.actor}</span>
              {times > 1 && <span className="faint"> · {times} times</span>}
            </span>
            <span className="small quiet">
              <Ago at={event.ts} />
            </span>
          </li>
        ))}
    </ul>
  );
};
