import { Link } from 'wouter';
import type { Event } from '#modules/events';
import { useSearchChange } from '../data/search.ts';
import { to } from '../locations.ts';
import { Button } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Select } from '../ui/field.tsx';
import { date } from '../ui/format.ts';
import { Card, Empty, SkeletonLines } from '../ui/layout.tsx';
import { Glyph } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';
import { detailsOf, GROUPS, nameOf, subjectOf, toneOf } from './kinds.ts';
import { useEvents } from './use-events.ts';

/** Events with their filters: of one project, or of all that the token may see. */
export const EventList = ({ project }: { project?: string }) => {
  const [search, change] = useSearchChange();
  const filter = { kind: search.get('kind') ?? '', actor: search.get('actor') ?? '' };
  const { events, error, isPending, isFetching, refetch, hasNextPage, fetchNextPage } = useEvents(project, filter);
  const actors = [
    ...new Set([...events.map((event) => event.actor), ...(filter.actor === '' ? [] : [filter.actor])]),
  ].sort();
  return (
    <div className="stack">
      <div className="filters" role="group" aria-label="Filters">
        <Select
          aria-label="Kind"
          value={filter.kind}
          onChange={(event) => change({ kind: event.target.value })}
          options={[{ value: '', label: 'All kinds' }, ...kindOptions(events, filter.kind)]}
        />
        <Select
          aria-label="Actor"
          value={filter.actor}
          onChange={(event) => change({ actor: event.target.value })}
          options={[{ value: '', label: 'Any actor' }, ...actors.map((actor) => ({ value: actor, label: actor }))]}
        />
        {(filter.kind !== '' || filter.actor !== '') && (
          <Button look="quiet" icon="close" onClick={() => change({ kind: '', actor: '' })}>
            Clear
          </Button>
        )}
        {project === undefined && (
          <Button icon="restart" busy={isFetching} onClick={() => void refetch()}>
            Look again
          </Button>
        )}
      </div>
      {error !== null && <ErrorCard error={error} onRetry={() => void refetch()} />}
      {isPending ? (
        <SkeletonLines lines={8} />
      ) : events.length === 0 && error === null ? (
        <Empty
          icon="events"
          title={filter.kind === '' && filter.actor === '' ? 'Nothing has happened yet' : 'No event fits'}
        >
          Deploys, changes, faults and who caused them stand here as they happen.
        </Empty>
      ) : (
        days(events).map(([day, list]) => (
          <Card key={day} title={day} flush>
            <ul className="event-rows">
              {list.map((event) => (
                <EventRow key={event.id} event={event} withProject={project === undefined} />
              ))}
            </ul>
          </Card>
        ))
      )}
      {hasNextPage && (
        <div className="row">
          <Button busy={isFetching} onClick={() => void fetchNextPage()}>
            Earlier events
          </Button>
        </div>
      )}
    </div>
  );
};

const kindOptions = (events: readonly Event[], chosen: string): { value: string; label: string }[] => {
  const seen = [...new Set(events.map(({ kind }): string => kind))].filter((kind) => !GROUPS.includes(kind)).sort();
  const own = chosen === '' || seen.includes(chosen) || GROUPS.includes(chosen) ? [] : [chosen];
  return [
    ...GROUPS.map((group) => ({ value: group, label: `${nameOf(group)}: all` })),
    ...[...own, ...seen].map((kind) => ({ value: kind, label: nameOf(kind) })),
  ];
};

const days = (events: readonly Event[]): [day: string, events: Event[]][] => {
  const groups = new Map<string, Event[]>();
  for (const event of events) {
    const day = date(Date.parse(event.ts));
    const group = groups.get(day);
    if (group === undefined) groups.set(day, [event]);
    else group.push(event);
  }
  return [...groups];
};

const EventRow = ({ event, withProject }: { event: Event; withProject: boolean }) => {
  const subject = subjectOf(event);
  const details = detailsOf(event);
  const operation = event.data['operation_id'];
  return (
    <li className="event-row">
      <Glyph tone={toneOf(event.kind)} />
      <span className="event-what">
        <span>
          {nameOf(event.kind)} {subject !== '' && <Subject event={event} name={subject} />}
          {withProject && event.project !== '*' && (
            <>
              {' in '}
              <Link href={to('project', { project: event.project })}>{event.project}</Link>
            </>
          )}
        </span>
        {details.length > 0 && (
          <span className="small quiet event-details">
            {details.map(([name, value]) => (
              <span key={name}>
                {name} <code>{value}</code>
              </span>
            ))}
          </span>
        )}
      </span>
      {typeof operation === 'string' && (
        <Link className="small event-link" href={to('operation', { operation })}>
          Operation
        </Link>
      )}
      <span className="small quiet event-actor cut" title={event.actor}>
        {event.actor}
      </span>
      <span className="small quiet event-time">
        <Ago at={event.ts} />
      </span>
    </li>
  );
};

/** A service leads to its page, as long as the event does not say that it is gone. */
const Subject = ({ event: { project, kind, data }, name }: { event: Event; name: string }) =>
  data['service'] === name && project !== '*' && !kind.endsWith('deleted') ? (
    <Link href={to('service', { project, service: name })} className="plain-link">
      <strong>{name}</strong>
    </Link>
  ) : (
    <strong>{name}</strong>
  );
