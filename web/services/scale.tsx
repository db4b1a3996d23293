import { useState } from 'react';
import type { Service } from '#modules/services';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Input } from '../ui/field.tsx';
import { bytes, count } from '../ui/format.ts';
import { changeOf } from './verbs.ts';

const MOST = 1000;

/** Asks how many replicas there should be, then for consent with what the API plans. */
export const ScaleDialog = ({ service, onClose }: { service: Service; onClose: () => void }) => {
  const [text, setText] = useState(String(service.replicas));
  const [planned, setPlanned] = useState(false);
  const replicas = Number(text);
  const wrong = !/^\d{1,4}$/.test(text.trim()) || replicas > MOST ? `a whole number from 0 to ${MOST}` : undefined;
  if (planned)
    return (
      <Confirm
        title={`Scale ${service.name} to ${replicas}`}
        verb="Scale"
        {...changeOf(service, { replicas })}
        onClose={onClose}
      >
        {replicas === 0 && <p>With no replica nothing answers at its address.</p>}
      </Confirm>
    );
  return (
    <Dialog
      title={`Scale ${service.name}`}
      onClose={onClose}
      onSubmit={() => wrong === undefined && setPlanned(true)}
      footer={
        <>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" disabled={wrong !== undefined || replicas === service.replicas}>
            Continue
          </Button>
        </>
      }
    >
      <Field
        label="Replicas"
        hint={`Now ${service.replicas}. Each may use up to ${bytes(service.memory_mb * 1024 * 1024)} of memory and ${count(service.cpus, 'core')}.`}
        error={wrong}
      >
        {(wired) => (
          <Input
            {...wired}
            autoFocus
            type="number"
            min={0}
            max={MOST}
            value={text}
            onFocus={(event) => event.target.select()}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
    </Dialog>
  );
};
