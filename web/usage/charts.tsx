import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { useSearchChange } from '../data/search.ts';
import { useLive } from '../live.ts';
import { useMay } from '../session/session.ts';
import { ErrorCard } from '../ui/error-card.tsx';
import { Segmented } from '../ui/field.tsx';
import { Card, Empty, SkeletonLines } from '../ui/layout.tsx';
import { Chart } from './chart.tsx';
import { RANGES, usageRead, type Range } from './read.ts';
import { chartsOf } from './series.ts';

interface UsageChartsProps {
  project: string;
  service: string;
}

/** The finest intervals are this long: nothing is newer. */
const RENEW_MS = 15_000;

/** Requests, latency, errors, CPU and memory of a service over time. */
const UsageCharts = ({ project, service }: UsageChartsProps) => {
  const may = useMay();
  return may('read') ? <Charts project={project} service={service} /> : null;
};

export default UsageCharts;

const Charts = ({ project, service }: UsageChartsProps) => {
  const [search, change] = useSearchChange();
  const range = RANGES.find(({ value }) => value === search.get('range')) ?? RANGES[0];
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(usageRead(project, service, range.value));
  const renewed = useRef(Date.now());
  const [cursor, setCursor] = useState<number>();
  useLive(`usage:${project}/${service}`, () => {
    if (Date.now() - renewed.current < RENEW_MS) return;
    renewed.current = Date.now();
    void client.invalidateQueries({ queryKey: ['usage', project, service] });
  });
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
