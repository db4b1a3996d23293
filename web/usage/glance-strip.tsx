import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { to } from '../locations.ts';
import { Sparkline } from '../ui/spark.tsx';
import { measuresOf } from './glance.ts';
import { glanceRead, useUsageLive } from './read.ts';

/** How loaded a service is: five numbers with their last hour, leading to the charts. */
export const GlanceStrip = ({ project, service }: { project: string; service: string }) => {
  const { data } = useQuery(glanceRead(project, service));
  useUsageLive(project, service);
  // Its room is there from the beginning: nothing jumps when the numbers come.
  const measures = measuresOf(data ?? NOTHING);
  return (
    <section className="glance" aria-label="The last hour">
      {measures.map(({ name, now, beside, values, words, alarming }) => (
        <div key={name} className={alarming ? 'measure alarming' : 'measure'}>
          <span className="small quiet">{name}</span>
          <span className="measure-now">
            <strong>{now}</strong> {beside !== undefined && <span className="small quiet">{beside}</span>}
          </span>
          <Sparkline values={values} height={32} label={words} />
        </div>
      ))}
      <Link href={to('usage', { project, service })} className="glance-link">
        <span className="sr-only">Charts of the usage</span>
      </Link>
    </section>
  );
};

const NOTHING = {
  project: '',
  service: '',
  from: new Date(0).toISOString(),
  to: new Date(0).toISOString(),
  step_seconds: 60,
  points: [],
  replicas: [],
};
