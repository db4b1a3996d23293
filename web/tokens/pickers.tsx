import { useQuery } from '@tanstack/react-query';
import type { Capability } from '#kernel/scope';
import { projectsRead } from '../data/reads.ts';
import { useMay, useSession } from '../session/session.ts';
import { Checkbox } from '../ui/field.tsx';
import { CAPABILITIES, grantable, mayGrantAll } from './rights.ts';

interface CapabilityPickerProps {
  chosen: readonly Capability[];
  onChange: (chosen: readonly Capability[]) => void;
}

/** What the token may do: never beyond what the caller's own may. */
export const CapabilityPicker = ({ chosen, onChange }: CapabilityPickerProps) => {
  const allowed = grantable(useSession());
  return (
    <fieldset className="picker">
      <legend>Capabilities</legend>
      {allowed.length < CAPABILITIES.length && (
        <p className="small quiet">Those that your own token has: none can be handed on beyond them.</p>
      )}
      <div className="picker-grid">
        {CAPABILITIES.filter(([name]) => allowed.includes(name)).map(([name, what]) => (
          <Checkbox
            key={name}
            checked={chosen.includes(name)}
            onChange={(event) => onChange(withChoice(chosen, name, event.target.checked))}
          >
            <code>{name}</code>
            <span className="small quiet what">{what}</span>
          </Checkbox>
        ))}
      </div>
    </fieldset>
  );
};

/** In the order of the list, whatever was pressed first. */
const withChoice = (chosen: readonly Capability[], name: Capability, taken: boolean): Capability[] =>
  CAPABILITIES.map(([each]) => each).filter((each) => (each === name ? taken : chosen.includes(each)));

interface ProjectPickerProps {
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

/** Where it may do that: never beyond the caller's own projects. */
export const ProjectPicker = ({ chosen, onChange }: ProjectPickerProps) => {
  const session = useSession();
  const may = useMay();
  const { data } = useQuery({ ...projectsRead(), enabled: may('read') });
  const all = mayGrantAll(session);
  const names = namesOf(all ? (data ?? []).map(({ name }) => name) : session.projects, chosen);
  const everywhere = chosen.includes('*');
  return (
    <fieldset className="picker">
      <legend>Projects</legend>
      {all && (
        <Checkbox checked={everywhere} onChange={(event) => onChange(event.target.checked ? ['*'] : [])}>
          All projects, also those to come
        </Checkbox>
      )}
      <div className="picker-grid">
        {names.map((name) => (
          <Checkbox
            key={name}
            checked={everywhere || chosen.includes(name)}
            disabled={everywhere}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, name] : chosen.filter((each) => each !== name))
            }
          >
            <code>{name}</code>
          </Checkbox>
        ))}
      </div>
    </fieldset>
  );
};

/** A project that is gone meanwhile stays in a token until it is taken out. */
const namesOf = (known: readonly string[], chosen: readonly string[]): string[] =>
  [...new Set([...known, ...chosen])].filter((name) => name !== '*').sort();

/** Why the choice can't be sent yet. */
export const missingOf = (capabilities: readonly Capability[], projects: readonly string[]): string | undefined => {
  if (capabilities.length === 0) return 'Choose at least one capability.';
  return projects.length === 0 ? 'Choose the projects, or all of them.' : undefined;
};
