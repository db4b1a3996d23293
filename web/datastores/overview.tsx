import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { projectRead } from '../data/reads.ts';
import { to } from '../locations.ts';
import { Copyable } from '../ui/code.tsx';
import { Card, Facts, Notice } from '../ui/layout.tsx';
import { Ago } from '../ui/time.tsx';
import type { TabProps } from './page.tsx';
import { DiskUse, LastBackup } from './parts.tsx';
import { KeptData } from './kept.tsx';

export const Overview = ({ datastore }: TabProps) => {
  return (
    <>
      {datastore.read_only && (
        <Notice tone="warn">
          The storage limit was passed: apps can no longer write. Make room from the console, or raise the limit in the
          settings.
        </Notice>
      )}
      {datastore.status === 'failed' && (
        <Notice tone="warn">
          It could not be made. Create it again under the same name to retry, or delete it in the settings.
        </Notice>
      )}
      {datastore.kept !== null && <KeptData datastore={datastore} kept={datastore.kept} />}
      <div className="halves">
        <Card title="State">
          <Facts
            facts={[
              ['On disk', <DiskUse key="disk" datastore={datastore} />],
              ['Memory', `${datastore.memory_mb} MB`],
              ['CPU', `${datastore.cpus} ${datastore.cpus === 1 ? 'core' : 'cores'}`],
              ['Last backup', <LastBackup key="backup" backup={datastore.last_backup} />],
              [
                'Next backup',
                datastore.next_backup_at === null ? 'none planned' : <Ago key="next" at={datastore.next_backup_at} />,
              ],
              [
                'Credential',
                datastore.rotated_at === null ? (
                  'as it was made'
                ) : (
                  <span key="rotated">
                    changed <Ago at={datastore.rotated_at} />
                  </span>
                ),
              ],
              [
                'Created',
                <span key="created">
                  <Ago at={datastore.created_at} /> by {datastore.created_by}
                </span>,
              ],
            ]}
          />
        </Card>
        <Variables datastore={datastore} />
      </div>
    </>
  );
};

const Variables = ({ datastore: { project, variables } }: TabProps) => {
  const { data: tree } = useQuery(projectRead(project));
  return (
    <Card title="Connection variables">
      <div className="stack">
        <p className="quiet">Every service of the project has them; values stay on the server.</p>
        <ul className="variables">
          {variables.map((name) => (
            <li key={name}>
              <Copyable text={name} />
            </li>
          ))}
        </ul>
        {tree !== undefined && tree.services.length > 0 && (
          <p className="small quiet">
            Given to{' '}
            {tree.services.map(({ name }, index) => (
              <span key={name}>
                {index > 0 && ', '}
                <Link href={to('service', { project, service: name })}>{name}</Link>
              </span>
            ))}
            .
          </p>
        )}
      </div>
    </Card>
  );
};
