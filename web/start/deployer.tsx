import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useSummaries } from '../data/follow.ts';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Field, Input, Select } from '../ui/field.tsx';
import { bytes, count } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { Progress } from '../ui/layout.tsx';
import type { Source } from './source.ts';
import { DropZone } from './drop-zone.tsx';
import { loadPacker } from './load.ts';
import { nameFault, nameFrom } from './names.ts';
import { useDeploy, type DeployState, type Target } from './use-deploy.ts';

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
    // Told when it is needed and still not there.
    if (next !== undefined) loadPacker().catch(() => undefined);
    deploy.reset();
  };
  if (source === undefined)
    return (
      <div className="stack">
        <DropZone onBegin={() => setError(undefined)} onSource={take} onError={setError} />
        {error !== undefined && <ErrorCard error={error} />}
      </div>
    );
  const { state, busy } = deploy;
  return (
    <div className="stack">
      <Cargo source={source} busy={busy} onDrop={() => take(undefined)} />
      {state.step === 'failed' && <ErrorCard error={state.error} />}
      {!busy && deploy.made !== undefined && <Made project={deploy.made} />}
      {busy && <Transfer state={state} onCancel={deploy.cancel} />}
      <Destination
        {...(project !== undefined && { project })}
        {...(service !== undefined && { service })}
        source={source}
        busy={busy}
        again={state.step === 'failed'}
        onDeploy={(target) => void deploy.start(source, target)}
      />
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
          : `${count(source.files, 'file')}, ${bytes(source.bytes)}${source.left > 0 ? `; ${source.left} left out by the ignore rules` : ''}`}
      </p>
    </div>
    {!busy && (
      <Button slim look="quiet" onClick={onDrop}>
        Take another
      </Button>
    )}
  </div>
);

/** A try that did not get through leaves the project that it began with. */
const Made = ({ project }: { project: string }) => {
  const summary = useSummaries()?.find(({ name }) => name === project);
  if (summary === undefined || summary.services.length > 0) return null;
  return (
    <p className="small quiet" role="status">
      The project <Link href={to('project', { project })}>{project}</Link> was created and is empty. Try again, or
      delete it in its <Link href={to('projectSettings', { project })}>settings</Link>.
    </p>
  );
};

const Transfer = ({ state, onCancel }: { state: DeployState; onCancel: () => void }) => {
  if (state.step !== 'packing' && state.step !== 'uploading') return null;
  const { step, target, done, total } = state;
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const place = `${target.project}/${target.service}`;
  const sent = step === 'uploading' && share === 1;
  return (
    <div className="transfer">
      <div className="row">
        <span className="grow cut" role="status">
          {sent ? 'Uploaded; the server is taking it in' : step === 'packing' ? 'Packing' : `Uploading to ${place}`}
        </span>
        <span className="quiet small">
          {bytes(done)} of {bytes(total)}
        </span>
        <Button slim look="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
      <Progress share={share} label={step === 'packing' ? 'Packing' : 'Uploading'} />
    </div>
  );
};

interface DestinationProps {
  project?: string;
  service?: string;
  source: Source;
  busy: boolean;
  again: boolean;
  onDeploy: (target: Target) => void;
}

const NEW = '';

/** Where it goes: asked only as far as it is open. Stays while it is under way, so that what was chosen is there for another try. */
const Destination = ({ project, service, source, busy, again, onDeploy }: DestinationProps) => {
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
  // After a failure it may be there because of the try before.
  const taken = create && !again && projects.some(({ name }) => name === newProject);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (!busy) form.current?.querySelector<HTMLElement>('[type=submit]')?.focus();
  }, [busy]);
  return (
    <form
      ref={form}
      hidden={busy}
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
        <Button type="submit" look="primary" icon="deploy">
          {again ? 'Try again' : service === undefined ? 'Deploy' : `Deploy to ${service}`}
        </Button>
      </div>
    </form>
  );
};
