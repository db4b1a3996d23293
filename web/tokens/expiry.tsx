import { Field, Input, Select } from '../ui/field.tsx';
import { exactly } from '../ui/format.ts';
import { dayOf, type Expires, type Lifetime } from './rights.ts';

interface ExpiryProps {
  choices: readonly { value: Lifetime; label: string }[];
  value: Expires;
  onChange: (value: Expires) => void;
  /** When the caller's own token expires. */
  limit: string | null;
}

/** How long: a number of days, a date, or for ever. */
export const Expiry = ({ choices, value, onChange, limit }: ExpiryProps) => (
  <div className="two-fields">
    <Field
      label="Expires"
      hint={limit === null ? undefined : `Yours expires ${exactly(Date.parse(limit))}: at most then.`}
    >
      {(wired) => (
        <Select
          {...wired}
          value={value.lifetime}
          options={choices}
          onChange={(event) => {
            const chosen = choices.find((each) => each.value === event.target.value);
            if (chosen !== undefined) onChange({ ...value, lifetime: chosen.value });
          }}
        />
      )}
    </Field>
    {value.lifetime === 'date' && (
      <Field label="Last day">
        {(wired) => (
          <Input
            {...wired}
            type="date"
            required
            min={dayOf(Date.now())}
            {...(limit !== null && { max: dayOf(Date.parse(limit)) })}
            value={value.date}
            onChange={(event) => onChange({ ...value, date: event.target.value })}
          />
        )}
      </Field>
    )}
  </div>
);
