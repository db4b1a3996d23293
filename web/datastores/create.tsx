import { useState } from 'react';
import { useLocation } from 'wouter';
import type { CreatedDatastore, Datastore } from '#modules/datastores';
import type { DryRun } from '#kernel/schema';
import { at, call } from '../api.ts';
import { to } from '../locations.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Field, Input, Select } from '../ui/field.tsx';
import { watchOperation } from './activity.ts';
import { LimitFields, limitsBody, type Limits } from './limits.tsx';
import { KINDS } from './parts.tsx';
import { PlanPreview, usePlan } from './plan-preview.tsx';
import { datastoresChanged } from './reads.ts';

type Kind = Datastore['kind'];
const ALL = Object.keys(KINDS) as Kind[];
const UNSET: Limits = { memory: '', cpus: '', storage: '' };

/** What a new datastore should be, beside what the API would do for it. */
export const CreateDatastore = ({
  project,
  taken,
  onClose,
}: {
  project: string;
  taken: readonly string[];
  onClose: () => void;
}) => {
  const [kind, setKind] = useState<Kind>(ALL.find((each) => !taken.includes(each)) ?? 'postgres');
  const [name, setName] = useState('');
  const [version, setVersion] = useState('');
  const [limits, setLimits] = useState(UNSET);
  const { busy, error, run } = useAction();
  const [, navigate] = useLocation();
  const path = at('projects', project, 'datastores');
  const body = {
    kind,
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(version !== '' && { version }),
    ...limitsBody(limits),
  };
  const plan = usePlan(path, body, () => call<DryRun>('POST', path, { json: body, query: { dry_run: true } }));
  const exists = plan.ready && plan.data?.plan.changes.length === 0;
  const create = async (): Promise<void> => {
    if (!plan.ready || exists) return;
    await run(async () => {
      const created = await call<CreatedDatastore>('POST', path, { json: body });
      watchOperation(project, created.name, created.operation_id);
      await datastoresChanged(project);
      navigate(to('datastore', { project, datastore: created.name }));
    });
  };
  return (
    <Dialog
      title="New datastore"
      wide
      onClose={onClose}
      onSubmit={() => void create()}
      footer={
        <>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" busy={busy} disabled={!plan.ready || exists}>
            Create
          </Button>
        </>
      }
    >
      <KindChoice
        kind={kind}
        onChange={(next) => {
          setKind(next);
          setVersion('');
        }}
      />
      <div className="two">
        <Field label="Name" hint={`Called ${kind} it gives the plain variables; another name prefixes them.`}>
          {(wired) => (
            <Input
              {...wired}
              mono
              autoCapitalize="off"
              placeholder={kind}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field label="Version">
          {(wired) => (
            <Select
              {...wired}
              value={version}
              onChange={(event) => setVersion(event.target.value)}
              options={KINDS[kind].versions.map((each, index) => ({
                value: index === 0 ? '' : each,
                label: index === 0 ? `${each} (usual)` : each,
              }))}
            />
          )}
        </Field>
      </div>
      <LimitFields limits={limits} onChange={setLimits} usual={{ memory: String(KINDS[kind].memory), cpus: '1' }} />
      <PlanPreview plan={plan} />
      {error !== undefined && <ErrorLine error={error} />}
    </Dialog>
  );
};

const KindChoice = ({ kind, onChange }: { kind: Kind; onChange: (kind: Kind) => void }) => (
  <fieldset className="kinds">
    <legend className="sr-only">Kind</legend>
    {ALL.map((each) => (
      <label key={each} className="kind">
        <input type="radio" name="kind" value={each} checked={each === kind} onChange={() => onChange(each)} />
        <span>
          <strong>{KINDS[each].title}</strong>
          <span className="small quiet">{KINDS[each].about}</span>
        </span>
      </label>
    ))}
  </fieldset>
);
