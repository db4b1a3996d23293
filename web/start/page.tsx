import { to } from '../locations.ts';
import { PageHead } from '../ui/layout.tsx';
import { WaysToDeploy } from './first-run.tsx';

const StartPage = () => (
  <>
    <PageHead title="Deploy something new" crumbs={[{ label: 'Projects', to: to('home') }]} />
    <WaysToDeploy />
  </>
);

export default StartPage;
