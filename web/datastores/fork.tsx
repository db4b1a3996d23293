import { useState } from 'react';
import { useLocation } from 'wouter';
import type { CreatedDatastore, DatastoreDetail } from '#modules/datastores';
import type { DryRun } from '#kernel/schema';
import { call } from '../api.ts';
import { to } from '../locations.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Field, Input } from '../ui/field.tsx';
import { watchOperation } from './activity.ts';
import { LimitFields, limitsBody, type Limits } from './limits.tsx';
import { PlanPreview, usePlan } from './plan-preview.tsx';
import { datastoreAt, datastoresChanged } from './reads.ts';

interface ForkProps {
  datastore: DatastoreDetail;
  /** The newest verified one when omitted. */
  backup?: string;
  onClose: () => void;
}

/** Another datastore out of a backup. */
export const ForkDatastore = ({ datastore: { project, name: from, memory_mb, cpus }, backup, onClose }: ForkProps) => {
  const [name, setName] = useState(`${from.slice(0, 24)}-fork`);
  const [limits, setLimits] = useState<Limits>({ memory: '', cpus: '', storage: '' });
  const { busy, error, run } = useAction();
  const [, navigate] = useLocation();
  const path = datastoreAt(project, from, 'fork');
  const body = { name: name.trim(), ...(backup !== undefined && { key: backup }), ...limitsBody(limits) };
  const plan = usePlan(path, body, () => call<DryRun>('POST', path, { json: body, query: { dry_run: true } }));
  const fork = async (): Promise<void> => {
    if (!plan.ready) return;
    await run(async () => {
      const created = await call<CreatedDatastore>('POST', path, { json: body });
      watchOperation(project, created.name, created.operation_id);
      await datastoresChanged(project);
      onClose();
      navigate(to('datastore', { project, datastore: created.name }));
    });
  };
  return (
    <Dialog
      title={`Fork ${from}`}
      onClose={onClose}
      onSubmit={() => void fork()}
      footer={
        <>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" busy={busy} disabled={!plan.ready}>
            Fork
          </Button>
        </>
      }
    >
      <p>
        Another datastore, filled from {backup === undefined ? 'the newest verified backup' : <code>{backup}</code>};
        this one stays as it is.
      </p>
      <Field label="Name" hint="Its variables are prefixed by it.">
        {(wired) => (
          <Input
            {...wired}
            mono
            autoFocus
            autoCapitalize="off"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <LimitFields limits={limits} onChange={setLimits} usual={{ memory: String(memory_mb), cpus: String(cpus) }} />
      <PlanPreview plan={plan} />
      {error !== undefined && <ErrorLine error={error} />}
    </Dialog>
  );
};
