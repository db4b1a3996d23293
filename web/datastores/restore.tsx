import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DryRun } from '#kernel/schema';
import type { Backup, DatastoreDetail } from '#modules/datastores';
import type { Accepted } from '#modules/operations';
import { call } from '../api.ts';
import { useMay } from '../session/session.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Field, Select } from '../ui/field.tsx';
import { Table } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { watchOperation } from './activity.ts';
import { compareTables, type Compared } from './compare.ts';
import { datastoreAt, datastoresChanged, tablesRead } from './reads.ts';

const HOURS = [
  { value: '0', label: 'not at all' },
  { value: '24', label: 'a day' },
  { value: '72', label: 'three days' },
  { value: '168', label: 'a week' },
];

interface RestoreProps {
  datastore: DatastoreDetail;
  backup: Backup;
  onClose: () => void;
}

/** Restoring: what is in the backup beside what is there now, the plan, and how to get back. */
export const RestoreBackup = ({ datastore: { project, name }, backup, onClose }: RestoreProps) => {
  const [hours, setHours] = useState('24');
  const mayLook = useMay()('query_datastores');
  const path = datastoreAt(project, name, 'restore');
  const json = { key: backup.key, keep_hours: Number(hours) };
  return (
    <Confirm
      title={`Restore ${name}`}
      verb={`Restore ${name}`}
      name={name}
      variant={hours}
      preview={() => call<DryRun>('POST', path, { json, query: { dry_run: true } })}
      run={async () => {
        const { operation_id } = await call<Accepted>('POST', path, { json });
        watchOperation(project, name, operation_id);
        await datastoresChanged(project);
      }}
      onClose={onClose}
    >
      <p>
        To the backup made <Ago at={backup.started_at} />. What was written since is no longer there; apps reconnect.
      </p>
      {mayLook && backup.objects !== null && <Difference project={project} name={name} objects={backup.objects} />}
      <Field
        label="Keep the data of now for"
        hint={hours === '0' ? 'Then there is no way back.' : 'Until then it can be swapped back from this page.'}
      >
        {(wired) => (
          <Select {...wired} options={HOURS} value={hours} onChange={(event) => setHours(event.target.value)} />
        )}
      </Field>
    </Confirm>
  );
};

const Difference = ({ project, name, objects }: { project: string; name: string; objects: Record<string, number> }) => {
  const { data, isError, hasNextPage } = useInfiniteQuery({ ...tablesRead(project, name, ''), staleTime: 0 });
  if (isError) return null;
  const tables = data?.pages.flatMap((page) => page.tables) ?? [];
  const compared = compareTables(objects, tables).filter(({ fate }) => !hasNextPage || fate !== 'comes back');
  if (data === undefined || compared.length === 0) return null;
  return (
    <div className="restore-difference">
      <Table
        caption="What changes, by table"
        columns={[
          { head: 'Table', cell: ({ table }: Compared) => <code>{table}</code> },
          {
            head: 'Rows now',
            end: true,
            cell: ({ now }: Compared) =>
              now === undefined ? '–' : now < 0 ? 'not counted' : `about ${now.toLocaleString('en')}`,
          },
          {
            head: 'In the backup',
            end: true,
            cell: ({ after }: Compared) => (after === undefined ? '–' : after.toLocaleString('en')),
          },
          { head: 'Then', cell: ({ fate }: Compared) => fate },
        ]}
        rows={compared}
        keyOf={({ table }) => table}
      />
    </div>
  );
};
