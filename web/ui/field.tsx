import {
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from 'react';
import { Icon } from './icons.tsx';

/** What ties an input to its label, hint and error. */
export interface Wired {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
}

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  /** What is wrong with the value, and how it should be. */
  error?: string | undefined;
  children: (wired: Wired) => ReactNode;
}

/** A labelled control: `<Field label="Name">{(wired) => <Input {...wired} … />}</Field>`. */
export const Field = ({ label, hint, error, children }: FieldProps) => {
  const id = useId();
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`]
    .filter((part) => part !== '')
    .join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(described !== '' && { 'aria-describedby': described }),
        ...(error !== undefined && { 'aria-invalid': true as const }),
      })}
      {hint !== undefined && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {error !== undefined && (
        <span className="wrong" id={`${id}-error`} role="alert">
          <Icon name="warn" />
          {error}
        </span>
      )}
    </div>
  );
};

interface InputProps extends InputHTMLAttributes<HTMLInputElement> {
  mono?: boolean;
  ref?: Ref<HTMLInputElement>;
}

export const Input = ({ mono = false, ...rest }: InputProps) => (
  <input autoComplete="off" spellCheck={false} {...rest} className={mono ? 'input mono' : 'input'} />
);

export const TextArea = ({
  mono = false,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { mono?: boolean }) => (
  <textarea spellCheck={false} {...rest} className={mono ? 'input mono' : 'input'} />
);

interface SelectProps extends SelectHTMLAttributes<HTMLSelectElement> {
  options: readonly { value: string; label: string }[];
}

export const Select = ({ options, ...rest }: SelectProps) => (
  <select {...rest} className="input">
    {options.map(({ value, label }) => (
      <option key={value} value={value}>
        {label}
      </option>
    ))}
  </select>
);

/** A search field; `label` is for those who don't see the glass. */
export const SearchInput = ({ label, ...rest }: InputProps & { label: string }) => (
  <span className="search-input">
    <Icon name="search" />
    <Input type="search" aria-label={label} placeholder={label} {...rest} />
  </span>
);

export const Checkbox = ({ children, ...rest }: InputHTMLAttributes<HTMLInputElement> & { children: ReactNode }) => (
  <label className="check">
    <input type="checkbox" {...rest} />
    <span>{children}</span>
  </label>
);

interface SegmentedProps<T extends string> {
  label: string;
  value: T;
  options: readonly { value: T; label: ReactNode }[];
  onChange: (value: T) => void;
}

/** A few choices side by side, one of them taken. */
export const Segmented = <T extends string>({ label, value, options, onChange }: SegmentedProps<T>) => (
  <div className="segmented" role="group" aria-label={label}>
    {options.map((option) => (
      <button
        key={option.value}
        type="button"
        aria-pressed={option.value === value}
        onClick={() => onChange(option.value)}
      >
        {option.label}
      </button>
    ))}
  </div>
);
