import { useState } from 'react';
import { useLocation } from 'wouter';
import type { CommitFiles, CommittedFiles, FileView, Repo } from '#modules/repos';
import type { DryRun } from '#kernel/schema';
import { call } from '../api.ts';
import { to } from '../locations.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Field, Input } from '../ui/field.tsx';
import { toast } from '../ui/toast.tsx';
import { nameOf, parentOf, repoTo, type RepoId } from './places.ts';
import { refreshRepos, repoApi } from './reads.ts';
import { deploysBranch } from './committed.tsx';

interface DeleteFileProps {
  id: RepoId;
  repo: Repo;
  branch: string;
  file: FileView;
  onClose: () => void;
}

/** Deletes a file by a commit. It stays in the history. */
export const DeleteFile = ({ id, repo, branch, file, onClose }: DeleteFileProps) => {
  const standard = `Delete ${nameOf(file.path)}`;
  const [message, setMessage] = useState('');
  const [, navigate] = useLocation();
  const body: CommitFiles = {
    branch,
    message: message.trim() === '' ? standard : message,
    files: [{ path: file.path, delete: true }],
    expected_head: file.commit,
  };
  const run = async (): Promise<void> => {
    const reply = await call<CommittedFiles>('POST', repoApi(id, 'commits'), { json: body });
    refreshRepos(id.project);
    const operation = reply.deploys.find(({ operation_id }) => operation_id !== null)?.operation_id;
    toast(
      'ok',
      `Deleted ${nameOf(file.path)} from ${branch}`,
      operation === undefined || operation === null
        ? { to: repoTo(id, 'commit', reply.commit.id), label: 'Commit' }
        : { to: to('operation', { operation }), label: 'Deploy' },
    );
    navigate(repoTo(id, 'tree', parentOf(file.path), { ref: branch === repo.default_branch ? undefined : branch }));
  };
  return (
    <Confirm
      title={`Delete ${nameOf(file.path)}?`}
      verb="Delete"
      preview={() => call<DryRun>('POST', repoApi(id, 'commits'), { json: body, query: { dry_run: true } })}
      run={run}
      onClose={onClose}
    >
      <p className="quiet">
        A commit on <code>{branch}</code> takes it away; the history keeps it.
        {deploysBranch(repo, branch) && (
          <>
            {' '}
            Then <code>{repo.deploy_service}</code> is deployed.
          </>
        )}
      </p>
      <Field label="Message of the commit">
        {(wired) => (
          <Input
            {...wired}
            placeholder={standard}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        )}
      </Field>
    </Confirm>
  );
};
