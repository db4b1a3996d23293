import { useState } from 'react';
import type { Service } from '#modules/services';
import { IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Field, Input } from '../ui/field.tsx';
import { bytes, count } from '../ui/format.ts';
import { changeOf } from './verbs.ts';

const MOST = 1000;

/** Asks how many replicas there should be, and shows what the API makes of it while it is chosen. */
export const ScaleDialog = ({ service, onClose }: { service: Service; onClose: () => void }) => {
  const [text, setText] = useState(String(service.replicas));
  const replicas = Number(text);
  const wrong = !/^\d{1,4}$/.test(text.trim()) || replicas > MOST ? `a whole number from 0 to ${MOST}` : undefined;
  const step = (by: number): void =>
    setText(String(Math.min(MOST, Math.max(0, (wrong === undefined ? replicas : service.replicas) + by))));
  return (
    <Confirm
      title={`Scale ${service.name}`}
      verb="Scale"
      variant={text.trim()}
      blocked={wrong !== undefined || replicas === service.replicas}
      {...changeOf(service, { replicas })}
      onClose={onClose}
    >
      <Field
        label="Replicas"
        hint={`Now ${service.replicas}. Each may use up to ${bytes(service.memory_mb * 1024 * 1024)} of memory and ${count(service.cpus, 'core')}.`}
        error={wrong}
      >
        {(wired) => (
          <span className="stepper">
            <IconButton icon="minus" look="plain" label="One less" onClick={() => step(-1)} />
            <Input
              {...wired}
              autoFocus
              inputMode="numeric"
              value={text}
              onFocus={(event) => event.target.select()}
              onChange={(event) => setText(event.target.value)}
            />
            <IconButton icon="plus" look="plain" label="One more" onClick={() => step(1)} />
          </span>
        )}
      </Field>
      {replicas === 0 && wrong === undefined && <p>With no replica nothing answers at its address.</p>}
    </Confirm>
  );
};
