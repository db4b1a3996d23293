import type { Event } from '#modules/events';
import { nameOf, subjectOf, toneOf } from '../events/kinds.ts';
import { Glyph } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';

export const EventRows = ({ events }: { events: readonly Event[] }) => {
  if (events.length === 0) return <p className="card-body quiet">Nothing has happened yet.</p>;
  return (
    <ul className="plain-rows">
      {events.map((event) => (
        <li key={event.id}>
          <Glyph tone={toneOf(event.kind)} />
          <span className="grow cut">
            {nameOf(event.kind)} <strong>{subjectOf(event)}</strong> <span className="quiet">by {event.actor}</span>
          </span>
          <span className="small quiet">
            <Ago at={event.ts} />
          </span>
        </li>
      ))}
    </ul>
  );
};
