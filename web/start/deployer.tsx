import { useState } from 'react';
import { useSummaries } from '../data/follow.ts';
import { useMay } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Field, Input, Select } from '../ui/field.tsx';
import { bytes, count } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { Progress } from '../ui/layout.tsx';
import type { Source } from './collect.ts';
import { DropZone } from './drop-zone.tsx';
import { nameFault, nameFrom } from './names.ts';
import { useDeploy, type DeployState } from './use-deploy.ts';

interface DeployerProps {
  /** Where it goes, as far as that is decided. */
  project?: string;
  service?: string;
  /** Given by an example that was picked. */
  source?: Source | undefined;
  onSource?: (source: Source | undefined) => void;
}

/** From a folder to a deploy: take it, name it, pack it, send it. */
export const Deployer = ({ project, service, source: given, onSource }: DeployerProps) => {
  const [own, setOwn] = useState<Source>();
  const [error, setError] = useState<unknown>();
  const deploy = useDeploy();
  const source = given ?? own;
  const take = (next: Source | undefined): void => {
    setOwn(next);
    setError(undefined);
    onSource?.(next);
    deploy.reset();
  };
  if (source === undefined)
    return (
      <div className="stack">
        <DropZone onSource={take} onError={setError} />
        {error !== undefined && <ErrorCard error={error} />}
      </div>
    );
  const busy = deploy.state.step === 'packing' || deploy.state.step === 'uploading';
  return (
    <div className="stack">
      <Cargo source={source} busy={busy} onDrop={() => take(undefined)} />
      {busy ? (
        <Transfer state={deploy.state} onCancel={deploy.cancel} />
      ) : (
        <Destination
          key={source.name}
          {...(project !== undefined && { project })}
          {...(service !== undefined && { service })}
          source={source}
          again={deploy.state.step === 'failed'}
          onDeploy={(target) => void deploy.start(source, target)}
        />
      )}
      {deploy.state.step === 'failed' && <ErrorCard error={deploy.state.error} />}
    </div>
  );
};

const Cargo = ({ source, busy, onDrop }: { source: Source; busy: boolean; onDrop: () => void }) => (
  <div className="cargo">
    <Icon name={'archive' in source ? 'file' : 'folder'} size={20} />
    <div className="grow">
      <strong className="cut">{source.name}</strong>
      <p className="small quiet">
        {'archive' in source
          ? bytes(source.archive.size)
          : `${count(source.files.length, 'file')}, ${bytes(source.bytes)}${source.left > 0 ? `; ${source.left} left out by the ignore rules` : ''}`}
      </p>
    </div>
    {!busy && (
      <Button slim look="quiet" onClick={onDrop}>
        Take another
      </Button>
    )}
  </div>
);

const Transfer = ({ state, onCancel }: { state: DeployState; onCancel: () => void }) => {
  if (state.step !== 'packing' && state.step !== 'uploading') return null;
  const word = state.step === 'packing' ? 'Packing' : 'Uploading';
  const share = state.total === 0 ? 1 : Math.min(1, state.done / state.total);
  return (
    <div className="stack tight">
      <div className="row">
        <span className="grow" role="status">
          {share === 1 && state.step === 'uploading' ? 'Waiting for the server' : word}
        </span>
        <span className="quiet small">
          {bytes(state.done)} of {bytes(state.total)}
        </span>
        <Button slim look="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
      <Progress share={share} label={word} />
    </div>
  );
};

interface DestinationProps {
  project?: string;
  service?: string;
  source: Source;
  again: boolean;
  onDeploy: (target: { project: string; service: string; create: boolean }) => void;
}

const NEW = '';

/** Where it goes: asked only as far as it is open. */
const Destination = ({ project, service, source, again, onDeploy }: DestinationProps) => {
  const may = useMay();
  const projects = useSummaries() ?? [];
  const canCreate = may('manage_projects');
  const suggested = nameFrom(source.name, 'app');
  const [chosen, setChosen] = useState(canCreate ? NEW : (projects[0]?.name ?? NEW));
  const [newProject, setNewProject] = useState(suggested);
  const [newService, setNewService] = useState('web');
  const create = project === undefined && chosen === NEW;
  const target = { project: project ?? (create ? newProject : chosen), service: service ?? newService, create };
  const faults = { project: nameFault(target.project), service: nameFault(target.service) };
  const taken = create && projects.some(({ name }) => name === newProject);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (faults.project === undefined && faults.service === undefined) onDeploy(target);
      }}
    >
      {(project === undefined || service === undefined) && (
        <div className="destination">
          {project === undefined && projects.length > 0 && (
            <Field label="Project">
              {(wired) => (
                <Select
                  {...wired}
                  value={chosen}
                  options={[
                    ...(canCreate ? [{ value: NEW, label: 'A new project' }] : []),
                    ...projects.map(({ name }) => ({ value: name, label: name })),
                  ]}
                  onChange={(event) => setChosen(event.target.value)}
                />
              )}
            </Field>
          )}
          {create && (
            <Field
              label="Name of the project"
              hint={taken ? 'It is there already: the service becomes part of it.' : undefined}
              error={faults.project}
            >
              {(wired) => (
                <Input {...wired} mono value={newProject} onChange={(event) => setNewProject(event.target.value)} />
              )}
            </Field>
          )}
          {service === undefined && (
            <Field label="Name of the service" error={faults.service}>
              {(wired) => (
                <Input {...wired} mono value={newService} onChange={(event) => setNewService(event.target.value)} />
              )}
            </Field>
          )}
        </div>
      )}
      <div className="row">
        <Button type="submit" look="primary" icon="deploy" autoFocus>
          {again ? 'Try again' : service === undefined ? 'Deploy' : `Deploy to ${service}`}
        </Button>
      </div>
    </form>
  );
};
