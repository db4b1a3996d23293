import { useState } from 'react';
import { useLocation } from 'wouter';
import type { CreateProjectReply } from '#modules/projects';
import { at, call } from '../api.ts';
import { queries } from '../data/client.ts';
import { to } from '../locations.ts';
import { nameFault } from '../start/names.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Field, Input } from '../ui/field.tsx';
import { toast } from '../ui/toast.tsx';

/** A project without anything in it yet: datastores, repositories and variables may come before the first service. */
export const NewProject = ({ onClose }: { onClose: () => void }) => {
  const [name, setName] = useState('');
  const { busy, error, run } = useAction();
  const [, navigate] = useLocation();
  const fault = nameFault(name);
  const create = (): Promise<void> =>
    run(async () => {
      const { created } = await call<CreateProjectReply>('POST', at('projects'), { json: { name } });
      void queries.invalidateQueries({ queryKey: ['projects'] });
      if (!created) toast('warn', `${name} was there already`);
      navigate(to('project', { project: name }));
    });
  return (
    <Dialog
      title="New project"
      onClose={onClose}
      onSubmit={() => {
        if (fault === undefined) void create();
      }}
      footer={
        <>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" busy={busy} disabled={fault !== undefined}>
            Create
          </Button>
        </>
      }
    >
      <Field label="Name" hint="Part of the addresses of its services." error={name === '' ? undefined : fault}>
        {(wired) => <Input {...wired} mono autoFocus value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      {error !== undefined && <ErrorLine error={error} />}
    </Dialog>
  );
};
