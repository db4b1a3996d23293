import { useState } from 'react';
import { useLocation } from 'wouter';
import type { DryRun } from '#kernel/schema';
import type { Repo } from '#modules/repos';
import { call } from '../api.ts';
import { queries } from '../data/client.ts';
import { to } from '../locations.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Checkbox, Field, Input } from '../ui/field.tsx';
import { bytes } from '../ui/format.ts';
import { Card } from '../ui/layout.tsx';
import { toast } from '../ui/toast.tsx';
import { repoTo, type RepoId } from './places.ts';
import { repoApi } from './reads.ts';
import { ServiceInput } from './service-input.tsx';
import { MirrorSettings } from './settings-mirror.tsx';
import { useUpdate } from './use-update.ts';

interface SettingsProps {
  id: RepoId;
  repo: Repo;
}

export const RepoSettings = ({ id, repo }: SettingsProps) => (
  <div className="stack wide repo-settings">
    <DeploySettings id={id} repo={repo} />
    <MirrorSettings id={id} repo={repo} />
    <NameSettings id={id} repo={repo} />
    <Deletion id={id} repo={repo} />
  </div>
);

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

const DeploySettings = ({ id, repo }: SettingsProps) => {
  const [service, setService] = useState(repo.deploy_service ?? '');
  const [branch, setBranch] = useState(repo.deploy_branch ?? '');
  const [root, setRoot] = useState(repo.root ?? '');
  const [preview, setPreview] = useState(repo.preview);
  const { busy, error, update } = useUpdate(id);
  const body = {
    deploy_service: orNull(service),
    deploy_branch: orNull(branch),
    root: orNull(root),
    preview: preview && service.trim() !== '',
  };
  const changed =
    body.deploy_service !== repo.deploy_service ||
    body.deploy_branch !== repo.deploy_branch ||
    body.root !== repo.root ||
    body.preview !== repo.preview;
  return (
    <Card title="Deploys">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void update(
            body,
            body.deploy_service === null ? 'Pushes deploy nothing now' : `Pushes deploy ${body.deploy_service} now`,
          );
        }}
      >
        <ServiceInput project={id.project} value={service} onChange={setService} />
        {service.trim() !== '' && (
          <>
            <div className="two-fields">
              <Field label="Branch" hint={`Empty: the default branch, ${repo.default_branch}.`}>
                {(wired) => (
                  <Input
                    {...wired}
                    mono
                    placeholder={repo.default_branch}
                    value={branch}
                    onChange={(event) => setBranch(event.target.value)}
                  />
                )}
              </Field>
              <Field label="Folder" hint="Empty: the whole repository.">
                {(wired) => (
                  <Input
                    {...wired}
                    mono
                    placeholder="apps/web"
                    value={root}
                    onChange={(event) => setRoot(event.target.value)}
                  />
                )}
              </Field>
            </div>
            <Checkbox checked={preview} onChange={(event) => setPreview(event.target.checked)}>
              Previews: deploy every other branch as <code>{service.trim()}-branch</code>, and delete it with the branch
            </Checkbox>
          </>
        )}
        {error !== undefined && <ErrorLine error={error} />}
        <div>
          <Button type="submit" look="primary" busy={busy} disabled={!changed}>
            Save
          </Button>
        </div>
      </form>
    </Card>
  );
};

const NameSettings = ({ id, repo }: SettingsProps) => {
  const [name, setName] = useState(repo.name);
  const [branch, setBranch] = useState(repo.default_branch);
  const { busy, error, update } = useUpdate(id);
  const [, navigate] = useLocation();
  const body = {
    ...(name.trim() !== repo.name && { name: name.trim() }),
    ...(branch.trim() !== repo.default_branch && { default_branch: branch.trim() }),
  };
  const save = async (): Promise<void> => {
    const reply = await update(body, 'Saved');
    if (reply !== undefined && reply.name !== id.repo)
      navigate(repoTo({ ...id, repo: reply.name }, 'settings'), { replace: true });
  };
  return (
    <Card title="Name and default branch">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div className="two-fields">
          <Field label="Name" hint="Clones have to be told: its address changes with it.">
            {(wired) => (
              <Input {...wired} mono required value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
          <Field label="Default branch" hint="What is shown and cloned when nobody says otherwise.">
            {(wired) => (
              <Input {...wired} mono required value={branch} onChange={(event) => setBranch(event.target.value)} />
            )}
          </Field>
        </div>
        {error !== undefined && <ErrorLine error={error} />}
        <div>
          <Button type="submit" busy={busy} disabled={Object.keys(body).length === 0}>
            Save
          </Button>
        </div>
      </form>
    </Card>
  );
};

const Deletion = ({ id, repo }: SettingsProps) => {
  const [deleting, setDeleting] = useState(false);
  const [, navigate] = useLocation();
  return (
    <Card title="Delete this repository">
      <div className="row wrap">
        <p className="quiet grow">
          All its history goes, {bytes(repo.size_bytes)}. What it has deployed goes on running.
        </p>
        <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
          Delete {repo.name}
        </Button>
      </div>
      {deleting && (
        <Confirm
          title={`Delete repository ${repo.name}`}
          verb={`Delete ${repo.name}`}
          name={repo.name}
          preview={() => call<DryRun>('DELETE', repoApi(id), { query: { dry_run: true } })}
          run={async () => {
            await call('DELETE', repoApi(id));
            queries.removeQueries({ queryKey: ['repo', id.project, id.repo] });
            void queries.invalidateQueries({ queryKey: ['repos', id.project] });
            toast('ok', `Deleted repository ${repo.name}`);
            navigate(to('repos', { project: id.project }));
          }}
          onClose={() => setDeleting(false)}
        >
          <p>This can’t be undone.</p>
        </Confirm>
      )}
    </Card>
  );
};
