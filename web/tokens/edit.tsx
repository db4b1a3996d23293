import { useState } from 'react';
import type { Capability } from '#kernel/scope';
import type { Token } from '#modules/tokens';
import { at, call } from '../api.ts';
import { queries } from '../data/client.ts';
import { useSession } from '../session/session.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Checkbox } from '../ui/field.tsx';
import { exactly } from '../ui/format.ts';
import { Notice } from '../ui/layout.tsx';
import { toast } from '../ui/toast.tsx';
import { Expiry } from './expiry.tsx';
import { CapabilityPicker, missingOf, ProjectPicker } from './pickers.tsx';
import { expiryOf, lifetimes, tokenChanges, type Expires } from './rights.ts';

/** Changes what a token may do, where and how long. Its secret stays. */
export const EditDialog = ({ token, onClose }: { token: Token; onClose: () => void }) => {
  const session = useSession();
  const [capabilities, setCapabilities] = useState<readonly Capability[]>(token.capabilities);
  const [projects, setProjects] = useState<readonly string[]>(token.projects);
  const [another, setAnother] = useState(false);
  const choices = lifetimes(session, Date.now());
  const [expires, setExpires] = useState<Expires>(() => ({ lifetime: choices[0]?.value ?? 'date', date: '' }));
  const { busy, error, run } = useAction();
  const limit = session.token_expires_at;
  const missing = missingOf(capabilities, projects);
  // A date that is not filled in yet is no time: the form asks for it.
  const ready = !another || expires.lifetime !== 'date' || expires.date !== '';
  const changes = tokenChanges(token, {
    capabilities: [...capabilities],
    projects: [...projects],
    expires_at: another && ready ? expiryOf(expires, { now: Date.now(), limit }) : undefined,
  });
  const nothing = Object.keys(changes).length === 0;
  const own = token.id === session.token_id;
  const save = async (): Promise<void> => {
    if (missing !== undefined || nothing || !ready) return;
    await run(async () => {
      await call<Token>('PATCH', at('tokens', token.id), { json: changes });
      void queries.invalidateQueries({ queryKey: ['tokens'] });
      if (own) void queries.invalidateQueries({ queryKey: ['session'] });
      toast('ok', `Changed the token of ${token.principal}`);
      onClose();
    });
  };
  return (
    <Dialog
      title={`Change the token of ${token.principal}`}
      wide
      onClose={onClose}
      onSubmit={() => void save()}
      footer={
        <>
          {missing !== undefined && <span className="small quiet grow mint-missing">{missing}</span>}
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" busy={busy} disabled={missing !== undefined || (nothing && !another)}>
            Save
          </Button>
        </>
      }
    >
      <p className="quiet">
        Takes effect at once, in open streams and signed-in browsers too. The secret stays the same.
      </p>
      {own && <Notice tone="warn">This is the token that you are signed in with.</Notice>}
      <CapabilityPicker chosen={capabilities} onChange={setCapabilities} />
      <ProjectPicker chosen={projects} onChange={setProjects} />
      <Checkbox checked={another} onChange={(event) => setAnother(event.target.checked)}>
        Another expiry
        <span className="small quiet what">
          {token.expires_at === null
            ? 'It never expires now.'
            : `It expires ${exactly(Date.parse(token.expires_at))} now.`}
        </span>
      </Checkbox>
      {another && <Expiry choices={choices} value={expires} onChange={setExpires} limit={limit} />}
      {error !== undefined && <ErrorLine error={error} />}
    </Dialog>
  );
};
