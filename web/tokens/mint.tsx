import { useState } from 'react';
import type { CreatedToken, CreateToken } from '#modules/tokens';
import type { Capability } from '#kernel/scope';
import { at, call } from '../api.ts';
import { queries } from '../data/client.ts';
import { useSession } from '../session/session.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Field, Input } from '../ui/field.tsx';
import { SecretOnce } from '../ui/secret.tsx';
import { Expiry } from './expiry.tsx';
import { CapabilityPicker, missingOf, ProjectPicker } from './pickers.tsx';
import { expiryOf, lifetimes, mayGrantAll, type Expires } from './rights.ts';

/** Mints a token within the rights of the one that is signed in; then shows its secret, once. */
export const MintDialog = ({ onClose }: { onClose: () => void }) => {
  const session = useSession();
  const [principal, setPrincipal] = useState('');
  const [capabilities, setCapabilities] = useState<readonly Capability[]>([]);
  const [projects, setProjects] = useState<readonly string[]>(() =>
    mayGrantAll(session) ? [] : session.projects.slice(0, 1),
  );
  const choices = lifetimes(session, Date.now());
  const [expires, setExpires] = useState<Expires>(() => ({
    lifetime: choices.find(({ value }) => value === '90')?.value ?? choices[0]?.value ?? 'date',
    date: '',
  }));
  const { busy, error, run } = useAction();
  const [made, setMade] = useState<CreatedToken>();
  const missing = missingOf(capabilities, projects);
  const mint = async (): Promise<void> => {
    if (missing !== undefined) return;
    const json: CreateToken = {
      principal: principal.trim(),
      capabilities: [...capabilities],
      projects: [...projects],
      expires_at: expiryOf(expires, { now: Date.now(), limit: session.token_expires_at }),
    };
    await run(async () => {
      setMade(await call<CreatedToken>('POST', at('tokens'), { json }));
      void queries.invalidateQueries({ queryKey: ['tokens'] });
    });
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
      <CapabilityPicker chosen={capabilities} onChange={setCapabilities} />
      <ProjectPicker chosen={projects} onChange={setProjects} />
      <Expiry choices={choices} value={expires} onChange={setExpires} limit={session.token_expires_at} />
      {error !== undefined && <ErrorLine error={error} />}
    </Dialog>
  );
};

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
