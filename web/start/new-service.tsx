import { useProjectLive } from '../data/follow.ts';
import { to } from '../locations.ts';
import { PageHead } from '../ui/layout.tsx';
import { WaysToDeploy } from './first-run.tsx';

const NewServicePage = ({ project }: { project: string }) => {
  useProjectLive(project);
  return (
    <>
      <PageHead title="New service" crumbs={[{ label: project, to: to('project', { project }) }]} />
      <WaysToDeploy project={project} />
    </>
  );
};

export default NewServicePage;
