import type { Backup } from '#modules/datastores';
import { ApiError } from '../api.ts';
import { Copyable } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { bytes, exactly } from '../ui/format.ts';
import { Facts } from '../ui/layout.tsx';
import { Table } from '../ui/table.tsx';
import { BackupStatus } from './parts.tsx';

export const BackupDetails = ({ backup, onClose }: { backup: Backup; onClose: () => void }) => {
  const objects = Object.entries(backup.objects ?? {});
  return (
    <Dialog title="What is in it" wide onClose={onClose}>
      {backup.error !== null && <ErrorCard error={new ApiError(backup.error, 0)} />}
      <Facts
        facts={[
          ['Key', <Copyable key="key" text={backup.key} />],
          ['Status', <BackupStatus key="status" status={backup.status} />],
          ['Made', `${exactly(Date.parse(backup.started_at))}, ${backup.cause}, by ${backup.created_by}`],
          [
            'Verified',
            backup.verified_at === null
              ? 'not yet'
              : `${exactly(Date.parse(backup.verified_at))}: restored elsewhere, and counted`,
          ],
          ['Of', `${backup.kind} ${backup.version}`],
          ['Size', backup.bytes === null ? '–' : bytes(backup.bytes)],
          ['SHA-256', backup.sha256 === null ? '–' : <Copyable key="sha" text={backup.sha256} />],
        ]}
      />
      {objects.length > 0 && (
        <Table
          caption="Rows by table"
          columns={[
            { head: 'Table', cell: ([name]) => <code>{name}</code> },
            { head: 'Rows', end: true, cell: ([, rows]) => rows.toLocaleString('en') },
          ]}
          rows={objects}
          keyOf={([name]) => name}
        />
      )}
    </Dialog>
  );
};
