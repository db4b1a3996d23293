import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DryRun } from '#kernel/schema';
import type { Backup } from '#modules/datastores';
import type { Accepted } from '#modules/operations';
import { asApiError, call } from '../api.ts';
import { useMay } from '../session/session.ts';
import { useAction } from '../ui/action.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { bytes, duration } from '../ui/format.ts';
import { Card, Empty, Notice, SkeletonLines } from '../ui/layout.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { Badge } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { watchOperation } from './activity.ts';
import { BackupDetails } from './backup-details.tsx';
import { ForkDatastore } from './fork.tsx';
import { KeptData } from './kept.tsx';
import type { TabProps } from './page.tsx';
import { BackupStatus, KINDS } from './parts.tsx';
import { backupsRead, datastoreAt, datastoresChanged } from './reads.ts';
import { RestoreBackup } from './restore.tsx';

type Open = { what: 'restore' | 'fork' | 'delete' | 'details'; backup: Backup } | undefined;

export const Backups = ({ datastore }: TabProps) => {
  const { project, name, kind, status } = datastore;
  const { data, error, isPending, refetch } = useQuery(backupsRead(project, name));
  const mayManage = useMay()('manage_datastores');
  const [open, setOpen] = useState<Open>();
  const { busy, error: failure, run } = useAction();
  const close = (): void => setOpen(undefined);
  const backUp = (): Promise<void> =>
    run(async () => {
      const { operation_id } = await call<Accepted>('POST', datastoreAt(project, name, 'backups'));
      watchOperation(project, name, operation_id);
      await datastoresChanged(project);
    });
  return (
    <>
      {datastore.kept !== null && <KeptData datastore={datastore} kept={datastore.kept} />}
      {failure !== undefined && <ErrorCard error={failure} onRetry={() => void backUp()} />}
      <Card
        title="Backups"
        flush
        actions={
          <>
            {datastore.next_backup_at !== null && (
              <span className="small quiet">
                next <Ago at={datastore.next_backup_at} />
              </span>
            )}
            {mayManage && status === 'ready' && (
              <Button slim icon="plus" busy={busy} onClick={() => void backUp()}>
                Back up now
              </Button>
            )}
          </>
        }
      >
        {error !== null && <ErrorCard error={error} onRetry={() => void refetch()} />}
        {isPending && error === null && (
          <div className="browse-find">
            <SkeletonLines lines={3} />
          </div>
        )}
        {data !== undefined && data.length === 0 && (
          <Empty icon="datastore" title="No backups yet">
            One is made every night, restored elsewhere and counted; only then it is called verified.
          </Empty>
        )}
        {data !== undefined && data.length > 0 && (
          <div className="actions-last">
            <BackupTable backups={data} mayManage={mayManage} onOpen={setOpen} datastore={datastore} />
          </div>
        )}
      </Card>
      {!KINDS[kind].restorable && (
        <Notice>
          Backups of {kind} are proved to load, but restored by hand: download one, and follow docs/datastores.md.
        </Notice>
      )}
      {open?.what === 'details' && <BackupDetails backup={open.backup} onClose={close} />}
      {open?.what === 'restore' && <RestoreBackup datastore={datastore} backup={open.backup} onClose={close} />}
      {open?.what === 'fork' && <ForkDatastore datastore={datastore} backup={open.backup.key} onClose={close} />}
      {open?.what === 'delete' && <DeleteBackup datastore={datastore} backup={open.backup} onClose={close} />}
    </>
  );
};

interface BackupTableProps extends TabProps {
  backups: readonly Backup[];
  mayManage: boolean;
  onOpen: (open: Open) => void;
}

const BackupTable = ({ datastore, backups, mayManage, onOpen }: BackupTableProps) => (
  <Table
    caption="Backups, newest first"
    columns={[
      { head: 'Status', cell: ({ status }) => <BackupStatus status={status} /> },
      {
        head: 'Made',
        cell: ({ started_at, cause }) => (
          <span className="nowrap">
            <Ago at={started_at} /> <span className="quiet">{cause}</span>
          </span>
        ),
      },
      { head: 'Rows', end: true, cell: ({ rows }) => (rows === null ? '–' : rows.toLocaleString('en')) },
      {
        head: 'Size',
        end: true,
        cell: ({ bytes: size }) => <span className="nowrap">{size === null ? '–' : bytes(size)}</span>,
      },
      {
        head: 'Took',
        end: true,
        cell: ({ duration_ms }) => <span className="nowrap">{duration_ms === null ? '–' : duration(duration_ms)}</span>,
      },
      { head: 'Where', cell: (backup) => <Places backup={backup} /> },
      {
        head: 'Kept',
        cell: ({ expires_at, status }) => <Kept expires={expires_at} verified={status === 'verified'} />,
      },
      {
        head: 'Actions',
        silent: true,
        end: true,
        cell: (backup) => <BackupActions datastore={datastore} backup={backup} mayManage={mayManage} onOpen={onOpen} />,
      },
    ]}
    rows={backups}
    keyOf={({ key }) => key}
  />
);

const Places = ({ backup: { places, encrypted, error } }: { backup: Backup }) =>
  error === null ? (
    <span className="row">
      {places.map((place) => (
        <Badge key={place}>{place}</Badge>
      ))}
      {encrypted && <Badge tone="ok">encrypted</Badge>}
    </span>
  ) : (
    <span className="small backup-error">{asApiError(new Error(error.message)).message}</span>
  );

const Kept = ({ expires, verified }: { expires: string | null; verified: boolean }) => {
  if (!verified) return <span className="faint">–</span>;
  return expires === null ? <span className="nowrap quiet">until the next</span> : <Ago at={expires} />;
};

const BackupActions = ({
  datastore: { project, name, kind },
  backup,
  mayManage,
  onOpen,
}: TabProps & { backup: Backup; mayManage: boolean; onOpen: (open: Open) => void }) => {
  const verified = backup.status === 'verified';
  const items: MenuItem[] = [
    { label: 'What is in it', icon: 'info', onSelect: () => onOpen({ what: 'details', backup }) },
    ...(mayManage && verified
      ? [
          {
            label: 'Download',
            icon: 'download',
            onSelect: () => location.assign(datastoreAt(project, name, 'backups', backup.key, 'download')),
          } as const,
          ...(KINDS[kind].restorable
            ? ([
                { label: 'Restore…', icon: 'rollback', onSelect: () => onOpen({ what: 'restore', backup }) },
                { label: 'Fork from it…', icon: 'repo', onSelect: () => onOpen({ what: 'fork', backup }) },
              ] as const)
            : []),
        ]
      : []),
    ...(mayManage && (verified || backup.status === 'failed')
      ? [
          { kind: 'rule' } as const,
          {
            label: 'Delete…',
            icon: 'trash',
            danger: true,
            onSelect: () => onOpen({ what: 'delete', backup }),
          } as const,
        ]
      : []),
  ];
  return (
    <Menu
      items={items}
      trigger={(props) => <IconButton slim icon="more" label={`Actions for the backup ${backup.key}`} {...props} />}
    />
  );
};

const DeleteBackup = ({
  datastore: { project, name },
  backup: { key },
  onClose,
}: TabProps & { backup: Backup; onClose: () => void }) => {
  const path = datastoreAt(project, name, 'backups', key);
  return (
    <Confirm
      title={`Delete the backup ${key}`}
      verb="Delete the backup"
      name={key}
      preview={() => call<DryRun>('DELETE', path, { query: { dry_run: true } })}
      run={async () => {
        await call('DELETE', path, { query: { confirm: true } });
        await datastoresChanged(project);
      }}
      onClose={onClose}
    >
      <p>What is in it can’t be brought back afterwards, unless another backup or a copy has it.</p>
    </Confirm>
  );
};
