import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { projectRead } from '../data/reads.ts';
import { useMay } from '../session/session.ts';
import { Field, Input } from '../ui/field.tsx';

interface ServiceInputProps {
  project: string;
  value: string;
  onChange: (value: string) => void;
}

/** A service that is there, or a new one: the first push makes it. */
export const ServiceInput = ({ project, value, onChange }: ServiceInputProps) => {
  const may = useMay();
  const id = useId();
  const { data } = useQuery({ ...projectRead(project), enabled: may('read') });
  return (
    <Field label="Service that a push deploys" hint="Empty: none. A new name becomes a service with the first push.">
      {(wired) => (
        <>
          <Input
            {...wired}
            mono
            list={`${id}-services`}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
          <datalist id={`${id}-services`}>
            {data?.services.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
};
