import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { EnvEntry } from '#modules/env';
import { queries } from '../data/client.ts';
import { useProjectLive } from '../data/follow.ts';
import { to } from '../locations.ts';
import { isThere } from '../routes.tsx';
import { useMay } from '../session/session.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { SearchInput } from '../ui/field.tsx';
import { Card, Empty, Notice, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Table } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { announce } from './announce.ts';
import { PasteEnv } from './paste.tsx';
import { envRead, planEnv, setEnv, type EnvNames } from './reads.ts';
import { SetVariable } from './set-variable.tsx';

type Open = { kind: 'set'; name: string | undefined } | { kind: 'paste' } | { kind: 'unset'; name: string } | undefined;

/** The environment of a project: names only, because values never leave the server again. */
const EnvPage = ({ project }: { project: string }) => {
  const read = useQuery(envRead(project));
  const may = useMay();
  const mayEdit = may('manage_env');
  const [open, setOpen] = useState<Open>();
  useProjectLive(project);
  const close = (): void => setOpen(undefined);
  const known = read.data?.env.map(({ name }) => name) ?? [];
  return (
    <>
      <PageHead
        title="Environment"
        crumbs={[{ label: project, to: to('project', { project }) }]}
        below="Given to every service of the project. Values are sealed: they are set here, and never shown again."
        actions={
          mayEdit && (
            <>
              <Button icon="file" onClick={() => setOpen({ kind: 'paste' })}>
                Paste a .env
              </Button>
              <Button icon="plus" look="primary" onClick={() => setOpen({ kind: 'set', name: undefined })}>
                Add variable
              </Button>
            </>
          )
        }
      />
      {read.data === undefined && read.error !== null && (
        <ErrorCard error={read.error} onRetry={() => void read.refetch()} />
      )}
      {read.isPending && <SkeletonLines lines={5} />}
      {read.data !== undefined && <Names project={project} names={read.data} mayEdit={mayEdit} onOpen={setOpen} />}
      {open?.kind === 'set' && <SetVariable project={project} known={known} name={open.name} onClose={close} />}
      {open?.kind === 'paste' && <PasteEnv project={project} known={known} onClose={close} />}
      {open?.kind === 'unset' && <Unset project={project} name={open.name} onClose={close} />}
    </>
  );
};

interface NamesProps {
  project: string;
  names: EnvNames;
  mayEdit: boolean;
  onOpen: (open: Open) => void;
}

const Names = ({ project, names: { env, injected }, mayEdit, onOpen }: NamesProps) => {
  const [typed, setTyped] = useState('');
  const fits = (name: string): boolean => name.toLowerCase().includes(typed.trim().toLowerCase());
  const shown = env.filter(({ name }) => fits(name));
  const given = injected.filter(({ name }) => fits(name));
  const own = new Set(env.map(({ name }) => name));
  return (
    <div className="stack wide">
      {env.length + injected.length > 8 && (
        <div className="filter env-filter">
          <SearchInput label="Find a name" value={typed} onChange={(event) => setTyped(event.target.value)} />
        </div>
      )}
      {!mayEdit && <Notice>This token may look at the names, and not change them: that takes “manage_env”.</Notice>}
      <Card title={`Set here (${env.length})`} flush>
        {env.length === 0 ? (
          <Empty icon="env" title="No variables are set">
            {mayEdit
              ? 'Add one, or paste a whole .env file: you see what changes and what restarts before anything does.'
              : 'Nobody has set one yet.'}
          </Empty>
        ) : (
          <div className={mayEdit ? 'actions-last' : ''}>
            <SetTable entries={shown} mayEdit={mayEdit} onOpen={onOpen} />
          </div>
        )}
      </Card>
      {injected.length > 0 && (
        <Card title={`Given by datastores (${injected.length})`} flush>
          <Table
            caption="Variables given by datastores"
            columns={[
              { head: 'Name', cell: ({ name }) => <code>{name}</code> },
              {
                head: 'Datastore',
                cell: ({ datastore }) =>
                  isThere('datastore') ? (
                    <Link href={to('datastore', { project, datastore })}>{datastore}</Link>
                  ) : (
                    datastore
                  ),
              },
              {
                head: 'In use',
                cell: ({ name }) =>
                  own.has(name) ? <span className="quiet">No: the one set here comes before it</span> : 'Yes',
              },
            ]}
            rows={given}
            keyOf={({ name, datastore }) => `${datastore} ${name}`}
          />
        </Card>
      )}
    </div>
  );
};

const SetTable = ({
  entries,
  mayEdit,
  onOpen,
}: {
  entries: readonly EnvEntry[];
  mayEdit: boolean;
  onOpen: (open: Open) => void;
}) => {
  if (entries.length === 0) return <p className="card-body quiet">No name fits.</p>;
  return (
    <Table
      caption="Variables that are set"
      brief
      columns={[
        { head: 'Name', cell: ({ name }) => <code className="env-name">{name}</code> },
        { head: 'Changed', cell: ({ updated_at }) => <Ago at={updated_at} /> },
        { head: 'By', cell: ({ updated_by }) => <span className="quiet">{updated_by}</span> },
        ...(mayEdit
          ? [
              {
                head: 'Actions',
                silent: true,
                end: true,
                cell: ({ name }: EnvEntry) => (
                  <span className="row env-actions">
                    <Button
                      slim
                      look="quiet"
                      aria-label={`Replace ${name}`}
                      onClick={() => onOpen({ kind: 'set', name })}
                    >
                      Replace
                    </Button>
                    <IconButton
                      slim
                      icon="trash"
                      label={`Unset ${name}`}
                      onClick={() => onOpen({ kind: 'unset', name })}
                    />
                  </span>
                ),
              },
            ]
          : []),
      ]}
      rows={entries}
      keyOf={({ name }) => name}
    />
  );
};

const Unset = ({ project, name, onClose }: { project: string; name: string; onClose: () => void }) => (
  <Confirm
    title={`Unset ${name}`}
    verb={`Unset ${name}`}
    name={name}
    preview={() => planEnv(project, { [name]: null })}
    run={async () => {
      announce(project, await setEnv(project, { [name]: null }));
      await queries.invalidateQueries({ queryKey: ['env', project] });
    }}
    onClose={onClose}
  >
    <p>Its value is gone for good, unless you have it elsewhere.</p>
  </Confirm>
);

export default EnvPage;
