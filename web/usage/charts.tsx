import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useSearchChange } from '../data/search.ts';
import { useMay } from '../session/session.ts';
import { ErrorCard } from '../ui/error-card.tsx';
import { Segmented } from '../ui/field.tsx';
import { Card, Empty, SkeletonLines } from '../ui/layout.tsx';
import { Chart } from './chart.tsx';
import { RANGES, usageRead, useUsageLive, type Range } from './read.ts';
import { chartsOf } from './series.ts';

interface UsageChartsProps {
  project: string;
  service: string;
}

/** Requests, latency, errors, CPU and memory of a service over time. */
const UsageCharts = ({ project, service }: UsageChartsProps) => {
  const may = useMay();
  return may('read') ? <Charts project={project} service={service} /> : null;
};

export default UsageCharts;

const Charts = ({ project, service }: UsageChartsProps) => {
  const [search, change] = useSearchChange();
  const range = RANGES.find(({ value }) => value === search.get('range')) ?? RANGES[0];
  const { data, error, refetch } = useQuery(usageRead(project, service, range.value));
  const [cursor, setCursor] = useState<number>();
  useUsageLive(project, service);
  const charts = useMemo(() => (data === undefined ? [] : chartsOf(data)), [data]);
  const choose = (next: Range): void => {
    setCursor(undefined);
    change({ range: next });
  };
  if (data === undefined && error !== null) return <ErrorCard error={error} onRetry={() => void refetch()} />;
  return (
    <div className="stack">
      <div className="row wrap">
        <Segmented label="Time range" value={range.value} options={RANGES} onChange={choose} />
      </div>
      {data === undefined ? (
        <SkeletonLines lines={6} />
      ) : data.points.length === 0 && data.replicas.length === 0 ? (
        <Card>
          <Empty icon="usage" title="Nothing measured yet">
            Requests, response times, CPU and memory are measured while replicas run, and kept for 7 days.
          </Empty>
        </Card>
      ) : (
        <div className="charts">
          {charts.map((chart) => (
            <Chart key={chart.title} chart={chart} range={range.words} cursor={cursor} onCursor={setCursor} />
          ))}
        </div>
      )}
    </div>
  );
};
