import { Field, Input } from '../ui/field.tsx';

/** Limits as they are typed; empty means the usual. */
export interface Limits {
  memory: string;
  cpus: string;
  storage: string;
}

interface LimitFieldsProps {
  limits: Limits;
  onChange: (limits: Limits) => void;
  usual: { memory: string; cpus: string };
}

export const LimitFields = ({ limits, onChange, usual }: LimitFieldsProps) => (
  <div className="three">
    <Field label="Memory, MB">
      {(wired) => (
        <Input
          {...wired}
          inputMode="numeric"
          placeholder={usual.memory}
          value={limits.memory}
          onChange={(event) => onChange({ ...limits, memory: event.target.value })}
        />
      )}
    </Field>
    <Field label="CPU, cores">
      {(wired) => (
        <Input
          {...wired}
          inputMode="decimal"
          placeholder={usual.cpus}
          value={limits.cpus}
          onChange={(event) => onChange({ ...limits, cpus: event.target.value })}
        />
      )}
    </Field>
    <Field label="Storage limit, MB">
      {(wired) => (
        <Input
          {...wired}
          inputMode="numeric"
          placeholder="none"
          value={limits.storage}
          onChange={(event) => onChange({ ...limits, storage: event.target.value })}
        />
      )}
    </Field>
  </div>
);

/** What is typed as the API takes it. What is no number goes there as it is: the server says what is wrong. */
export const numberOf = (text: string): number | string | undefined => {
  const trimmed = text.trim().replace(',', '.');
  if (trimmed === '') return undefined;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : trimmed;
};

export const limitsBody = ({ memory, cpus, storage }: Limits): Record<string, unknown> => {
  const [memory_mb, cores, storage_limit_mb] = [numberOf(memory), numberOf(cpus), numberOf(storage)];
  return {
    ...(memory_mb !== undefined && { memory_mb }),
    ...(cores !== undefined && { cpus: cores }),
    ...(storage_limit_mb !== undefined && { storage_limit_mb }),
  };
};
