import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { Empty, PageHead } from '../ui/layout.tsx';
import { EventList } from './event-list.tsx';

/** What happened in a project, and who did it. */
const EventsPage = ({ project }: { project: string }) => {
  const may = useMay();
  return (
    <>
      <PageHead
        title="Events"
        crumbs={[{ label: project, to: to('project', { project }) }]}
        below="What happened in this project, and who did it"
      />
      {may('read') ? (
        <EventList project={project} />
      ) : (
        <Empty icon="events" title="This token may not read events">
          It lacks the capability “read”. Sign in with one that has it.
        </Empty>
      )}
    </>
  );
};

export default EventsPage;
