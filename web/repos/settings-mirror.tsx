import { useState } from 'react';
import type { Repo } from '#modules/repos';
import { ApiError, call } from '../api.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Copyable } from '../ui/code.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Card, Facts } from '../ui/layout.tsx';
import { SecretOnce } from '../ui/secret.tsx';
import { Status } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';
import { toast } from '../ui/toast.tsx';
import { MirrorAddress, WebhookHelp } from './mirror-fields.tsx';
import type { RepoId } from './places.ts';
import { refreshRepos, repoApi } from './reads.ts';
import { useUpdate } from './use-update.ts';

interface MirrorProps {
  id: RepoId;
  repo: Repo;
}

/** Follows a repository elsewhere: how that goes, and its settings. */
export const MirrorSettings = ({ id, repo }: MirrorProps) => {
  const [secret, setSecret] = useState<string>();
  return (
    <Card title="Mirror">
      <div className="stack">
        {repo.mirror_of === null ? (
          <NoMirror id={id} repo={repo} onSecret={setSecret} />
        ) : (
          <Following id={id} repo={repo} onSecret={setSecret} />
        )}
        {secret !== undefined && (
          <>
            <WebhookHelp url={repo.webhook_url ?? ''} />
            <SecretOnce secret={secret} label="Webhook secret" />
          </>
        )}
      </div>
    </Card>
  );
};

interface PartProps extends MirrorProps {
  onSecret: (secret: string | undefined) => void;
}

const Following = ({ id, repo, onSecret }: PartProps) => {
  const [changing, setChanging] = useState(false);
  const { busy, error, update } = useUpdate(id);
  const fetching = useAction();
  const fetchNow = (): Promise<void> =>
    fetching.run(async () => {
      await call('POST', repoApi(id, 'sync'));
      toast('ok', 'It is being fetched');
      refreshRepos(id.project);
    });
  const newSecret = async (): Promise<void> => {
    const made = randomHex();
    if ((await update({ webhook_secret: made }, 'The webhook secret is another one now')) !== undefined) onSecret(made);
  };
  return (
    <>
      <Facts
        facts={[
          ['Follows', <code key="of">{repo.mirror_of}</code>],
          ['State', <State key="state" repo={repo} />],
          ['Webhook address', <Copyable key="hook" text={repo.webhook_url ?? ''} />],
        ]}
      />
      {repo.mirror_error !== null && <ErrorLine error={new ApiError(repo.mirror_error, 0)} />}
      {(error ?? fetching.error) !== undefined && <ErrorLine error={error ?? fetching.error} />}
      <div className="row wrap">
        <Button icon="restart" busy={fetching.busy} onClick={() => void fetchNow()}>
          Fetch now
        </Button>
        <Button busy={busy} onClick={() => void newSecret()}>
          New webhook secret
        </Button>
        <Button onClick={() => setChanging(!changing)} aria-expanded={changing}>
          Change address or password
        </Button>
        <Button
          look="danger"
          busy={busy}
          onClick={() => {
            onSecret(undefined);
            void update({ mirror_of: null }, 'It follows nothing any more, and can be pushed to');
          }}
        >
          Stop following
        </Button>
      </div>
      {changing && <AddressForm id={id} repo={repo} onSecret={onSecret} onDone={() => setChanging(false)} />}
    </>
  );
};

const State = ({ repo: { mirrored_at, mirror_error } }: { repo: Repo }) => {
  if (mirror_error !== null) return <Status tone="bad">the last fetch failed</Status>;
  if (mirrored_at === null) return <Status tone="busy">not fetched yet</Status>;
  return (
    <Status tone="ok">
      fetched <Ago at={mirrored_at} />
    </Status>
  );
};

const NoMirror = (props: PartProps) => {
  const [open, setOpen] = useState(false);
  return (
    <>
      <div className="row wrap">
        <p className="quiet grow">It is pushed to here, and follows no repository elsewhere.</p>
        <Button onClick={() => setOpen(!open)} aria-expanded={open}>
          Follow one elsewhere
        </Button>
      </div>
      {open && <AddressForm {...props} onDone={() => setOpen(false)} />}
    </>
  );
};

const AddressForm = ({ id, repo, onSecret, onDone }: PartProps & { onDone: () => void }) => {
  const [value, setValue] = useState({ address: repo.mirror_of ?? '', user: '', password: '' });
  const { busy, error, update } = useUpdate(id);
  const save = async (): Promise<void> => {
    const credential =
      value.password === '' ? {} : { mirror_credential: { user: value.user, password: value.password } };
    const reply = await update(
      { mirror_of: value.address.trim(), ...credential },
      `It follows ${value.address.trim()} now`,
    );
    if (reply === undefined) return;
    onSecret(reply.webhook_secret ?? undefined);
    onDone();
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <MirrorAddress value={value} onChange={setValue} />
      {error !== undefined && <ErrorLine error={error} />}
      <div>
        <Button type="submit" look="primary" busy={busy}>
          Save
        </Button>
      </div>
    </form>
  );
};

/** As many random bits as the server's own secrets have. */
const randomHex = (): string =>
  [...crypto.getRandomValues(new Uint8Array(24))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
