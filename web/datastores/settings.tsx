import { useState, type ReactNode } from 'react';
import type { DryRun } from '#kernel/schema';
import type { DatastoreDetail } from '#modules/datastores';
import type { Accepted } from '#modules/operations';
import { call } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Checkbox } from '../ui/field.tsx';
import type { IconName } from '../ui/icons.tsx';
import { Card } from '../ui/layout.tsx';
import { watchOperation } from './activity.ts';
import { ForkDatastore } from './fork.tsx';
import { LimitFields, numberOf, type Limits } from './limits.tsx';
import type { TabProps } from './page.tsx';
import { KINDS } from './parts.tsx';
import { datastoreAt, datastoresChanged } from './reads.ts';

type Open = 'limits' | 'restart' | 'rotate' | 'fork' | 'delete' | undefined;

export const DatastoreSettings = ({ datastore }: TabProps) => {
  const { project, name, kind, status } = datastore;
  const [open, setOpen] = useState<Open>();
  const [limits, setLimits] = useState<Limits>(() => limitsOf(datastore));
  const close = (): void => setOpen(undefined);
  const changes = changedLimits(datastore, limits);
  const changed = Object.keys(changes).length > 0;
  const ready = status === 'ready';
  return (
    <div className="stack wide">
      {ready && (
        <Card title="Limits">
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              if (changed) setOpen('limits');
            }}
          >
            <LimitFields
              limits={limits}
              onChange={setLimits}
              usual={{ memory: String(datastore.memory_mb), cpus: String(datastore.cpus) }}
            />
            <p className="quiet small">
              Memory and CPU restart it, and apps reconnect. Beyond the storage limit apps can no longer write; empty is
              no limit.
            </p>
            <p className="row">
              <Button type="submit" disabled={!changed}>
                Preview the change
              </Button>
            </p>
          </form>
        </Card>
      )}
      <Card title="Actions" flush>
        {ready && (
          <Action icon="restart" label="Restart" onClick={() => setOpen('restart')}>
            On the newest image of {kind} {datastore.version}; apps reconnect.
          </Action>
        )}
        {ready && (
          <Action icon="token" label="Change the credential" onClick={() => setOpen('rotate')}>
            Services get a new one, replica by replica; then the old one is void.
          </Action>
        )}
        {ready && KINDS[kind].restorable && (
          <Action icon="repo" label="Fork" onClick={() => setOpen('fork')}>
            Another datastore out of its newest verified backup.
          </Action>
        )}
        <Action icon="trash" danger label={`Delete ${name}`} onClick={() => setOpen('delete')}>
          With all its data. Backups stay until their time is over.
        </Action>
      </Card>
      {open === 'limits' && (
        <Ask
          datastore={datastore}
          title={`Change the limits of ${name}`}
          verb="Change"
          method="PATCH"
          path={datastoreAt(project, name)}
          json={changes}
          onClose={close}
        />
      )}
      {open === 'restart' && (
        <Ask
          datastore={datastore}
          title={`Restart ${name}`}
          verb="Restart"
          method="POST"
          path={datastoreAt(project, name, 'restart')}
          onClose={close}
        />
      )}
      {open === 'rotate' && (
        <Ask
          datastore={datastore}
          title="Change the credential"
          verb="Change it"
          method="POST"
          path={datastoreAt(project, name, 'rotate')}
          onClose={close}
        />
      )}
      {open === 'fork' && <ForkDatastore datastore={datastore} onClose={close} />}
      {open === 'delete' && <DeleteDatastore datastore={datastore} onClose={close} />}
    </div>
  );
};

const limitsOf = ({ memory_mb, cpus, storage_limit_mb }: DatastoreDetail): Limits => ({
  memory: String(memory_mb),
  cpus: String(cpus),
  storage: storage_limit_mb === null ? '' : String(storage_limit_mb),
});

/** Only what differs; an emptied storage limit is none. */
const changedLimits = (datastore: DatastoreDetail, { memory, cpus, storage }: Limits): Record<string, unknown> => {
  const wanted = {
    memory_mb: numberOf(memory) ?? datastore.memory_mb,
    cpus: numberOf(cpus) ?? datastore.cpus,
    storage_limit_mb: numberOf(storage) ?? null,
  };
  return Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => value !== datastore[key as keyof DatastoreDetail]),
  );
};

interface ActionProps {
  icon: IconName;
  label: string;
  danger?: boolean;
  onClick: () => void;
  children: ReactNode;
}

const Action = ({ icon, label, danger = false, onClick, children }: ActionProps) => (
  <div className="action-row">
    <p className="quiet grow">{children}</p>
    <Button icon={icon} {...(danger && { look: 'danger' as const })} onClick={onClick}>
      {label}
    </Button>
  </div>
);

interface AskProps extends TabProps {
  title: string;
  verb: string;
  method: 'PATCH' | 'POST';
  path: string;
  json?: Record<string, unknown>;
  onClose: () => void;
}

const Ask = ({ datastore: { project, name }, title, verb, method, path, json, onClose }: AskProps) => {
  const body = json === undefined ? {} : { json };
  return (
    <Confirm
      title={title}
      verb={verb}
      preview={() => call<DryRun>(method, path, { ...body, query: { dry_run: true } })}
      run={async () => {
        const reply = await call<Partial<Accepted>>(method, path, body);
        watchOperation(project, name, reply.operation_id ?? null);
        await datastoresChanged(project);
      }}
      onClose={onClose}
    />
  );
};

const DeleteDatastore = ({ datastore: { project, name, status }, onClose }: TabProps & { onClose: () => void }) => {
  const [last, setLast] = useState(status === 'ready');
  const path = datastoreAt(project, name);
  return (
    <Confirm
      title={`Delete ${name}`}
      verb={`Delete ${name}`}
      name={name}
      variant={String(last)}
      preview={() => call<DryRun>('DELETE', path, { query: { dry_run: true, final_backup: last } })}
      run={async () => {
        const { operation_id } = await call<Accepted>('DELETE', path, { query: { confirm: true, final_backup: last } });
        watchOperation(project, name, operation_id);
        await datastoresChanged(project);
      }}
      onClose={onClose}
    >
      <Checkbox checked={last} disabled={status !== 'ready'} onChange={(event) => setLast(event.target.checked)}>
        Make a last backup first, and verify it; when that fails, nothing is deleted
      </Checkbox>
    </Confirm>
  );
};
