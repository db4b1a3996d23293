import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Input } from '../ui/field.tsx';

interface TimeDialogProps {
  /** RFC 3339, or empty. */
  since: string;
  onChoose: (since: string) => void;
  onClose: () => void;
}

/** Asks for a point in time, in the zone of the browser. */
export const TimeDialog = ({ since, onChoose, onClose }: TimeDialogProps) => {
  const [value, setValue] = useState(() => forInput(since === '' ? new Date() : new Date(since)));
  const time = new Date(value);
  const error = Number.isNaN(time.getTime())
    ? 'Give a day and a time.'
    : time.getTime() > Date.now()
      ? 'That is in the future: choose a time that has passed.'
      : undefined;
  const choose = (): void => {
    if (error !== undefined) return;
    onChoose(time.toISOString());
    onClose();
  };
  return (
    <Dialog
      title="Show the log from a point in time on"
      onClose={onClose}
      onSubmit={choose}
      footer={
        <>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" disabled={error !== undefined}>
            Show
          </Button>
        </>
      }
    >
      <Field label="Time" hint={`Local time (${Intl.DateTimeFormat().resolvedOptions().timeZone})`} error={error}>
        {(wired) => (
          <Input
            {...wired}
            type="datetime-local"
            step={1}
            autoFocus
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        )}
      </Field>
    </Dialog>
  );
};

/** As `datetime-local` takes it: without a zone, to the second. */
const forInput = (time: Date): string =>
  new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length);
