import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { DryRun } from '#kernel/schema';
import { useAction } from './action.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorLine } from './error-card.tsx';
import { Field, Input } from './field.tsx';
import { SkeletonLines } from './layout.tsx';
import { Badge, type Tone } from './status.tsx';
import { capitalised } from './format.ts';

interface ConfirmProps {
  title: string;
  /** What it means, beyond the plan. */
  children?: ReactNode;
  /** On the button: `Roll back`, `Delete shop`. */
  verb: string;
  /** Asks the API what would happen (`dry_run=true`). */
  preview: () => Promise<DryRun>;
  run: () => Promise<unknown>;
  onClose: () => void;
  /** Changes with what is chosen in `children`: the plan is asked for anew. */
  variant?: string;
  /** For what can't be undone: must be typed. */
  name?: string;
  /** What is chosen in `children` is not something to ask the API for. */
  blocked?: boolean;
}

/**
 * Asks before something changes, and shows the plan that the API makes of it. With `name` the name has to be typed
 * first. Stays open with the error when it fails.
 */
export const Confirm = (props: ConfirmProps) => {
  const { title, children, verb, preview, run, onClose, variant = '', name, blocked = false } = props;
  const [typed, setTyped] = useState('');
  const action = useAction();
  const plan = useQuery({
    queryKey: ['plan', title, name ?? '', variant],
    queryFn: preview,
    gcTime: 0,
    staleTime: 0,
    retry: false,
    enabled: !blocked,
    placeholderData: keepPreviousData,
  });
  const ready = (name === undefined || typed === name) && !blocked && plan.isSuccess && !plan.isPlaceholderData;
  const confirm = async (): Promise<void> => {
    if (!ready) return;
    await action.run(async () => {
      await run();
      onClose();
    });
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void confirm()}
      footer={
        <>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            look={name === undefined ? 'primary' : 'danger'}
            filled={name !== undefined}
            busy={action.busy}
            disabled={!ready}
          >
            {verb}
          </Button>
        </>
      }
    >
      {children}
      {plan.isLoading && <SkeletonLines lines={2} />}
      {!blocked && plan.isError && <ErrorLine error={plan.error} />}
      {!blocked && plan.isSuccess && <Plan plan={plan.data} />}
      {name !== undefined && (
        <Field label={<>Type “{name}” to confirm</>}>
          {(wired) => (
            <Input {...wired} mono autoFocus value={typed} onChange={(event) => setTyped(event.target.value)} />
          )}
        </Field>
      )}
      {action.error !== undefined && <ErrorLine error={action.error} />}
    </Dialog>
  );
};

const TONES: Record<string, Tone> = { delete: 'bad', cancel: 'warn', restart: 'busy', update: 'busy', create: 'ok' };

/** What a change would do, as the API plans it. */
export const Plan = ({ plan: { plan } }: { plan: DryRun }) => (
  <div className="stack tight">
    <p>{`${capitalised(plan.summary)}.`}</p>
    {plan.changes.length > 0 && (
      <ul className="plan" aria-label="Planned changes">
        {plan.changes.map((change) => (
          <li key={`${change.action} ${change.resource} ${change.name}`}>
            <span>
              <Badge tone={TONES[change.action] ?? 'idle'}>{change.action}</Badge>
            </span>
            <span>
              <span className="quiet">{change.resource}</span> <code>{change.name}</code>
              <Further change={change} />
            </span>
          </li>
        ))}
      </ul>
    )}
  </div>
);

const KNOWN = new Set(['action', 'resource', 'name', 'build', 'from', 'to']);

const Further = ({ change }: { change: Record<string, unknown> }) => {
  const rest = Object.entries(change).filter(([key, value]) => !KNOWN.has(key) && value !== undefined);
  const exchanged = exchangeOf(change);
  if (rest.length === 0 && exchanged.length === 0) return null;
  return (
    <span className="small quiet">
      {exchanged.map(({ key, from, to }) => (
        <span key={key}>
          {' · '}
          {key.replaceAll('_', ' ')} <code>{textOf(from)}</code> → <code>{textOf(to)}</code>
        </span>
      ))}
      {rest.map(([key, value]) => (
        <span key={key}>
          {' · '}
          {key.replaceAll('_', ' ')} <code>{textOf(value)}</code>
        </span>
      ))}
    </span>
  );
};

const textOf = (value: unknown): string =>
  value === null || value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);

/** What had other values before, field by field. */
const exchangeOf = ({ from, to }: Record<string, unknown>): { key: string; from: unknown; to: unknown }[] => {
  if (!isRecord(from) || !isRecord(to)) return from === undefined && to === undefined ? [] : [{ key: '', from, to }];
  return Object.keys(to).map((key) => ({ key, from: from[key], to: to[key] }));
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
