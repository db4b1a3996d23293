import { ServiceFrame } from '../services/head.tsx';
import { LogView } from './log-view.tsx';

interface LogsProps {
  project: string;
  service: string;
}

/** The log of a service: live, searched, filtered, from any point in time on. */
const LogsPage = (path: LogsProps) => (
  <div className="logs-page">
    <ServiceFrame {...path}>{() => <LogView {...path} />}</ServiceFrame>
  </div>
);

export default LogsPage;
