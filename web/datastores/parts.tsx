import type { Backup, Datastore, DatastoreDetail } from '#modules/datastores';
import { bytes, percent } from '../ui/format.ts';
import { Progress } from '../ui/layout.tsx';
import { Badge, Status, type Tone } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';

/** A little is known of each kind before there is one: what fits into a form. Checked against the server by a test. */
export const KINDS = {
  postgres: {
    title: 'Postgres',
    about: 'Tables and SQL, on disk.',
    versions: ['17', '18', '16'],
    memory: 512,
    restorable: true,
  },
  redis: {
    title: 'Redis',
    about: 'Keys in memory, logged to disk. Valkey, which speaks Redis.',
    versions: ['8', '7.2'],
    memory: 256,
    restorable: false,
  },
  mongo: {
    title: 'Mongo',
    about: 'Documents. FerretDB over a Postgres of its own.',
    versions: ['1.24'],
    memory: 512,
    restorable: false,
  },
} as const;

const STATES: Record<Datastore['status'], { tone: Tone; word: string }> = {
  provisioning: { tone: 'busy', word: 'Being made' },
  ready: { tone: 'ok', word: 'Ready' },
  failed: { tone: 'bad', word: 'Failed' },
  deleting: { tone: 'busy', word: 'Being deleted' },
};

type Stated = Pick<Datastore, 'status' | 'read_only'> & Partial<Pick<DatastoreDetail, 'answering'>>;

export const DatastoreStatus = ({ datastore: { status, read_only, answering } }: { datastore: Stated }) => {
  if (status === 'ready' && answering === false) return <Status tone="bad">Does not answer</Status>;
  if (status === 'ready' && read_only) return <Status tone="warn">Full: read-only</Status>;
  const { tone, word } = STATES[status];
  return <Status tone={tone}>{word}</Status>;
};

/** Bytes on disk, beside the limit if there is one. */
export const DiskUse = ({
  datastore: { used_bytes, storage_limit_mb },
}: {
  datastore: Pick<Datastore, 'used_bytes' | 'storage_limit_mb'>;
}) => {
  if (used_bytes === null) return <span className="quiet">not measured yet</span>;
  if (storage_limit_mb === null) return <span className="nowrap">{bytes(used_bytes)}</span>;
  const share = used_bytes / (storage_limit_mb * 1024 * 1024);
  const said = `${bytes(used_bytes)} of ${bytes(storage_limit_mb * 1024 * 1024)}`;
  return (
    <span className="disk-use">
      <span className="nowrap">
        {said} <span className="quiet">({percent(share)})</span>
      </span>
      <Progress share={share} label={`Disk use: ${said}`} />
    </span>
  );
};

const BACKUP_STATES: Record<Backup['status'], { tone: Tone; word: string }> = {
  running: { tone: 'busy', word: 'Running' },
  verifying: { tone: 'busy', word: 'Verifying' },
  verified: { tone: 'ok', word: 'Verified' },
  failed: { tone: 'bad', word: 'Failed' },
};

export const BackupStatus = ({ status }: { status: Backup['status'] }) => {
  const { tone, word } = BACKUP_STATES[status];
  return <Status tone={tone}>{word}</Status>;
};

/** How the newest backup stands, in a line. */
export const LastBackup = ({ backup }: { backup: Datastore['last_backup'] }) => {
  if (backup === null) return <span className="quiet">none yet</span>;
  if (backup.verified_at !== null)
    return (
      <span className="nowrap">
        <Badge tone="ok">verified</Badge> <Ago at={backup.verified_at} />
      </span>
    );
  return (
    <span className="nowrap">
      <Badge tone={backup.status === 'failed' ? 'bad' : 'busy'}>{backup.status}</Badge> <Ago at={backup.started_at} />
    </span>
  );
};
