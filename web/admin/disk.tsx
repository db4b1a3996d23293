import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Capacity, Disk } from '#modules/system';
import { to } from '../locations.ts';
import { Button } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { bytes } from '../ui/format.ts';
import { Card, Empty, SkeletonLines } from '../ui/layout.tsx';
import { Table } from '../ui/table.tsx';
import { Meter } from './meter.tsx';
import { diskRead } from './read.ts';

type ProjectDisk = Disk['projects'][number];
type Part = Exclude<keyof ProjectDisk, 'project' | 'total_bytes'>;

const PARTS: readonly (readonly [part: Part, name: string])[] = [
  ['image_bytes', 'Images'],
  ['build_cache_bytes', 'Build cache'],
  ['log_bytes', 'Logs'],
  ['datastore_bytes', 'Datastores'],
  ['backup_bytes', 'Backups'],
  ['repo_bytes', 'Repositories'],
];

/** Which disks there are, and which project takes how much of them, for what. */
export const DiskTab = ({ capacity }: { capacity: Capacity }) => {
  const { data, error, refetch, isFetching } = useQuery(diskRead);
  return (
    <div className="stack">
      <Card title="Disks">
        <div className="stack">
          {capacity.disks.map(({ path, holds, total_bytes: total, free_bytes: free }) => (
            <Meter key={path} label={path} note={holds} used={total - free} total={total} />
          ))}
        </div>
      </Card>
      {error !== null && <ErrorCard error={error} onRetry={() => void refetch()} />}
      <Card
        title="By project"
        actions={
          <Button slim look="quiet" icon="restart" busy={isFetching} onClick={() => void refetch()}>
            Look again
          </Button>
        }
        flush
      >
        {data === undefined ? (
          <div className="card-body">{error === null && <SkeletonLines lines={4} />}</div>
        ) : data.projects.length === 0 ? (
          <Empty icon="projects" title="No projects yet" />
        ) : (
          <Projects projects={data.projects} />
        )}
      </Card>
      <p className="small quiet">
        Logs are measured now, the rest as last counted. Layers that releases share count for each of them.
      </p>
    </div>
  );
};

const Projects = ({ projects }: { projects: readonly ProjectDisk[] }) => {
  const most = Math.max(1, ...projects.map(({ total_bytes: total }) => total));
  return (
    <>
      <ul className="disk-legend small quiet" aria-hidden="true">
        {PARTS.map(([part, name]) => (
          <li key={part}>
            <i className={part} />
            {name}
          </li>
        ))}
      </ul>
      <Table
        caption="Disk by project"
        rows={projects}
        keyOf={({ project }) => project}
        columns={[
          { head: 'Project', cell: ({ project }) => <Link href={to('project', { project })}>{project}</Link> },
          { head: 'Share', silent: true, cell: (row) => <Share row={row} most={most} /> },
          { head: 'Total', end: true, cell: ({ total_bytes: total }) => <strong>{bytes(total)}</strong> },
          ...PARTS.map(([part, name]) => ({
            head: name,
            end: true,
            cell: (row: ProjectDisk) =>
              row[part] === 0 ? <span className="faint">–</span> : <span className="nowrap">{bytes(row[part])}</span>,
          })),
        ]}
      />
    </>
  );
};

/** As long as the project is large beside the largest; the figures stand in the row. */
const Share = ({ row, most }: { row: ProjectDisk; most: number }) => (
  <span className="disk-share" aria-hidden="true">
    {PARTS.map(([part]) =>
      row[part] === 0 ? null : <i key={part} className={part} style={{ width: `${(row[part] / most) * 100}%` }} />,
    )}
  </span>
);
