import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { CreatedToken, CreateToken } from '#modules/tokens';
import type { Capability } from '#kernel/scope';
import { asApiError, at, call } from '../api.ts';
import { queries } from '../data/client.ts';
import { projectsRead } from '../data/reads.ts';
import { useMay, useSession } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Checkbox, Field, Input, Select } from '../ui/field.tsx';
import { exactly } from '../ui/format.ts';
import { SecretOnce } from '../ui/secret.tsx';
import { CAPABILITIES, expiryOf, grantable, lifetimes, mayGrantAll, type Lifetime } from './rights.ts';

/** Mints a token within the rights of the one that is signed in; then shows its secret, once. */
export const MintDialog = ({ onClose }: { onClose: () => void }) => {
  const session = useSession();
  const [principal, setPrincipal] = useState('');
  const [capabilities, setCapabilities] = useState<readonly Capability[]>([]);
  const [projects, setProjects] = useState<readonly string[]>(() =>
    mayGrantAll(session) ? [] : session.projects.slice(0, 1),
  );
  const choices = lifetimes(session, Date.now());
  const [lifetime, setLifetime] = useState<Lifetime>(
    () => choices.find(({ value }) => value === '90')?.value ?? choices[0]?.value ?? 'date',
  );
  const [date, setDate] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [made, setMade] = useState<CreatedToken>();
  const missing =
    capabilities.length === 0
      ? 'Choose at least one capability.'
      : projects.length === 0
        ? 'Choose the projects, or all of them.'
        : undefined;
  const mint = async (): Promise<void> => {
    if (missing !== undefined) return;
    setBusy(true);
    setError(undefined);
    try {
      const json: CreateToken = {
        principal: principal.trim(),
        capabilities: [...capabilities],
        projects: [...projects],
        expires_at: expiryOf(lifetime, date, Date.now()),
      };
      setMade(await call<CreatedToken>('POST', at('tokens'), { json }));
      void queries.invalidateQueries({ queryKey: ['tokens'] });
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  if (made !== undefined) return <Minted token={made} onClose={onClose} />;
  return (
    <Dialog
      title="Mint a token"
      wide
      onClose={onClose}
      onSubmit={() => void mint()}
      footer={
        <>
          {missing !== undefined && <span className="small quiet grow mint-missing">{missing}</span>}
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" busy={busy} disabled={missing !== undefined}>
            Mint
          </Button>
        </>
      }
    >
      <Field
        label="For whom or what"
        hint="Stands beside everything that is done with it: a person’s address, or a name such as ci@shop."
      >
        {(wired) => (
          <Input
            {...wired}
            required
            autoFocus
            maxLength={100}
            placeholder="ci@shop"
            value={principal}
            onChange={(event) => setPrincipal(event.target.value)}
          />
        )}
      </Field>
      <CapabilityPicker allowed={grantable(session)} chosen={capabilities} onChange={setCapabilities} />
      <ProjectPicker chosen={projects} onChange={setProjects} />
      <Expiry
        choices={choices}
        lifetime={lifetime}
        date={date}
        limit={session.token_expires_at}
        onLifetime={setLifetime}
        onDate={setDate}
      />
      {error !== undefined && <ErrorLine error={error} />}
    </Dialog>
  );
};

interface CapabilityPickerProps {
  allowed: readonly Capability[];
  chosen: readonly Capability[];
  onChange: (chosen: readonly Capability[]) => void;
}

const CapabilityPicker = ({ allowed, chosen, onChange }: CapabilityPickerProps) => (
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
          onChange={(event) =>
            onChange(event.target.checked ? [...chosen, name] : chosen.filter((each) => each !== name))
          }
        >
          <code>{name}</code>
          <span className="small quiet what">{what}</span>
        </Checkbox>
      ))}
    </div>
  </fieldset>
);

const ProjectPicker = ({
  chosen,
  onChange,
}: {
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}) => {
  const session = useSession();
  const may = useMay();
  const { data } = useQuery({ ...projectsRead(), enabled: may('read') });
  const all = mayGrantAll(session);
  const names = all ? (data ?? []).map(({ name }) => name) : session.projects;
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

interface ExpiryProps {
  choices: readonly { value: Lifetime; label: string }[];
  lifetime: Lifetime;
  date: string;
  limit: string | null;
  onLifetime: (lifetime: Lifetime) => void;
  onDate: (date: string) => void;
}

const Expiry = ({ choices, lifetime, date, limit, onLifetime, onDate }: ExpiryProps) => (
  <div className="two-fields">
    <Field
      label="Expires"
      hint={limit === null ? undefined : `Yours expires ${exactly(Date.parse(limit))}: at most then.`}
    >
      {(wired) => (
        <Select
          {...wired}
          value={lifetime}
          options={choices}
          onChange={(event) => onLifetime(choices.find(({ value }) => value === event.target.value)?.value ?? 'date')}
        />
      )}
    </Field>
    {lifetime === 'date' && (
      <Field label="Last day">
        {(wired) => (
          <Input
            {...wired}
            type="date"
            required
            min={dayOf(Date.now())}
            {...(limit !== null && { max: dayOf(Date.parse(limit)) })}
            value={date}
            onChange={(event) => onDate(event.target.value)}
          />
        )}
      </Field>
    )}
  </div>
);

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const Minted = ({ token, onClose }: { token: CreatedToken; onClose: () => void }) => (
  <Dialog
    title={`A token for ${token.principal}`}
    onClose={onClose}
    footer={
      <Button look="primary" onClick={onClose}>
        I have kept it
      </Button>
    }
  >
    <SecretOnce secret={token.secret} label="The token’s secret" />
    <p className="quiet">To sign the client in with it:</p>
    <CodeBlock code={`berth login ${location.origin}`} label="Copy the line for the client" />
  </Dialog>
);
