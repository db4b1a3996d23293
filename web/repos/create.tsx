import { useState } from 'react';
import { useLocation } from 'wouter';
import type { CreateRepo, CreatedRepo } from '#modules/repos';
import { ApiError, at, call } from '../api.ts';
import { useAction } from '../ui/action.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Checkbox, Field, Input, Segmented } from '../ui/field.tsx';
import { SecretOnce } from '../ui/secret.tsx';
import { MirrorAddress, WebhookHelp } from './mirror-fields.tsx';
import { repoTo } from './places.ts';
import { refreshRepos } from './reads.ts';
import { ServiceInput } from './service-input.tsx';

interface CreateRepoProps {
  project: string;
  onClose: () => void;
}

/** A new repository, empty or following one elsewhere. */
export const CreateRepoDialog = ({ project, onClose }: CreateRepoProps) => {
  const [kind, setKind] = useState<'own' | 'mirror'>('own');
  const [name, setName] = useState('');
  const [service, setService] = useState('');
  const [preview, setPreview] = useState(false);
  const [mirror, setMirror] = useState({ address: '', user: '', password: '' });
  const { busy, error, run } = useAction();
  const [made, setMade] = useState<CreatedRepo>();
  const [, navigate] = useLocation();
  const create = (): Promise<void> =>
    run(async () => {
      const reply = await call<CreatedRepo>('POST', at('projects', project, 'repos'), {
        json: bodyOf({ kind, name, service, preview, mirror }),
      });
      refreshRepos(project);
      if (!reply.created) throw alreadyThere(name);
      if (reply.webhook_secret !== null) setMade(reply);
      else navigate(repoTo({ project, repo: reply.name }, 'tree'));
    });
  if (made !== undefined) return <Mirrored repo={made} onClose={onClose} />;
  return (
    <Dialog
      title="New repository"
      onClose={onClose}
      onSubmit={() => void create()}
      footer={
        <>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" busy={busy}>
            Create
          </Button>
        </>
      }
    >
      <Segmented
        label="Kind"
        value={kind}
        onChange={setKind}
        options={[
          { value: 'own', label: 'To push to' },
          { value: 'mirror', label: 'Follow one elsewhere' },
        ]}
      />
      <Field label="Name" hint="Lower case letters, digits and dashes.">
        {(wired) => (
          <Input
            {...wired}
            mono
            required
            autoFocus
            value={name}
            placeholder="web"
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      {kind === 'mirror' && <MirrorAddress value={mirror} onChange={setMirror} />}
      <ServiceInput project={project} value={service} onChange={setService} />
      {service.trim() !== '' && (
        <Checkbox checked={preview} onChange={(event) => setPreview(event.target.checked)}>
          Deploy every other branch as a preview of its own
        </Checkbox>
      )}
      {error !== undefined && <ErrorLine error={error} />}
    </Dialog>
  );
};

interface Wanted {
  kind: 'own' | 'mirror';
  name: string;
  service: string;
  preview: boolean;
  mirror: { address: string; user: string; password: string };
}

const bodyOf = ({ kind, name, service, preview, mirror }: Wanted): CreateRepo => ({
  name: name.trim(),
  ...(service.trim() !== '' && { deploy_service: service.trim(), preview }),
  ...(kind === 'mirror' && {
    mirror_of: mirror.address.trim(),
    ...(mirror.password !== '' && { mirror_credential: { user: mirror.user, password: mirror.password } }),
  }),
});

const alreadyThere = (name: string): ApiError =>
  new ApiError(
    { code: 'CONFLICT', message: `a repository named "${name}" exists`, hint: 'choose another name', retryable: false },
    409,
  );

const Mirrored = ({ repo, onClose }: { repo: CreatedRepo; onClose: () => void }) => (
  <Dialog
    title={`${repo.name} follows ${repo.mirror_of ?? ''}`}
    onClose={onClose}
    footer={
      <LinkButton look="primary" to={repoTo({ project: repo.project, repo: repo.name }, 'tree')}>
        Open the repository
      </LinkButton>
    }
  >
    <WebhookHelp url={repo.webhook_url ?? ''} />
    <SecretOnce secret={repo.webhook_secret ?? ''} label="Webhook secret" />
  </Dialog>
);
