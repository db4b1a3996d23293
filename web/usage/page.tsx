import { ServiceFrame, type ServicePath } from '../services/head.tsx';
import UsageCharts from './charts.tsx';

/** What a service used in the last hours or days. */
const UsagePage = (path: ServicePath) => <ServiceFrame {...path}>{() => <UsageCharts {...path} />}</ServiceFrame>;

export default UsagePage;
