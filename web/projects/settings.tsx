import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { DryRun } from '#kernel/schema';
import type { Accepted } from '#modules/operations';
import { at, call } from '../api.ts';
import { projectRead } from '../data/reads.ts';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Card, Facts, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Ago } from '../ui/time.tsx';

const ProjectSettings = ({ project }: { project: string }) => {
  const { data: tree } = useQuery(projectRead(project));
  const may = useMay();
  const [deleting, setDeleting] = useState(false);
  const [, navigate] = useLocation();
  return (
    <>
      <PageHead title="Settings" crumbs={[{ label: project, to: to('project', { project }) }]} />
      <div className="stack wide">
        <Card title="Project">
          {tree === undefined ? (
            <SkeletonLines lines={2} />
          ) : (
            <Facts
              facts={[
                ['Name', <code key="name">{tree.name}</code>],
                ['Created', <Ago key="created" at={tree.created_at} />],
                ['Created by', tree.created_by],
              ]}
            />
          )}
        </Card>
        {may('manage_projects') && (
          <Card title="Delete this project">
            <div className="row wrap">
              <p className="quiet grow">
                Its services, datastores with their data, repositories and history go with it.
              </p>
              <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
                Delete {project}
              </Button>
            </div>
          </Card>
        )}
      </div>
      {deleting && (
        <Confirm
          title={`Delete project ${project}`}
          verb={`Delete ${project}`}
          name={project}
          preview={() => call<DryRun>('DELETE', at('projects', project), { query: { dry_run: true } })}
          run={async () => {
            const { operation_id: operation } = await call<Accepted>('DELETE', at('projects', project), {
              query: { confirm: true },
            });
            navigate(to('operation', { operation }));
          }}
          onClose={() => setDeleting(false)}
        >
          <p>This can’t be undone.</p>
        </Confirm>
      )}
    </>
  );
};

export default ProjectSettings;
