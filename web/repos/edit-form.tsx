import { Suspense, lazy, useState } from 'react';
import { useLocation } from 'wouter';
import type { Repo } from '#modules/repos';
import { asApiError } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Checkbox, Field, Input, TextArea } from '../ui/field.tsx';
import { Card, Notice, SkeletonLines } from '../ui/layout.tsx';
import { Committed, deploysBranch } from './committed.tsx';
import { Conflict } from './conflict.tsx';
import { nameOf, repoTo } from './places.ts';
import { useEdit, type Edited } from './use-edit.ts';

const CodeView = lazy(() => import('./code-view.tsx'));

/** Text, message and branch; then one commit. */
export const EditForm = (props: Edited) => {
  const { id, repo, at, path: begun, file, branch } = props;
  const edit = useEdit(props);
  const { path, head, busy, error, reply } = edit;
  const [named, setNamed] = useState<string>();
  const [deploy, setDeploy] = useState(true);
  const [, navigate] = useLocation();
  if (reply !== undefined) return <Committed id={id} repo={repo} reply={reply} path={path} />;

  const target = (named ?? branch ?? '').trim();
  const wrong = path === '' || path.endsWith('/') ? 'Give the file a name.' : undefined;
  const conflict = asApiError(error).code === 'CONFLICT' && target === branch && head !== null;
  const back =
    file === undefined
      ? repoTo(id, 'tree', begun.replace(/\/$/, ''), { ref: at })
      : repoTo(id, 'file', begun, { ref: at });
  return (
    <form
      className="stack"
      aria-label={file === undefined ? 'New file' : `Edit ${begun}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (wrong === undefined && target !== '') void edit.commit({ head, branch: target }, deploy);
      }}
    >
      {edit.restored && <Notice>What you had written here before is back. It is not committed yet.</Notice>}
      <Field
        label="Path"
        error={path === begun ? undefined : wrong}
        hint={file === undefined ? undefined : 'Another path moves the file.'}
      >
        {(wired) => (
          <Input
            {...wired}
            mono
            required
            value={path}
            placeholder="src/main.ts"
            onChange={(event) => edit.setPath(event.target.value)}
          />
        )}
      </Field>
      <Card flush>
        <Suspense fallback={<Loading />}>
          <CodeView
            text={edit.initial}
            fileName={nameOf(path)}
            label={`Content of ${path === '' ? 'the new file' : path}`}
            onChange={edit.setContent}
          />
        </Suspense>
      </Card>
      <p className="small quiet">Tab indents; press Escape, then Tab, to leave the text.</p>
      <Field label="Message of the commit">
        {(wired) => (
          <TextArea
            {...wired}
            rows={2}
            placeholder={edit.standard}
            value={edit.message}
            onChange={(event) => edit.setMessage(event.target.value)}
          />
        )}
      </Field>
      <Target
        repo={repo}
        branch={branch}
        value={named ?? branch ?? ''}
        onChange={setNamed}
        deploy={deploy}
        onDeploy={setDeploy}
      />
      {conflict && branch !== undefined && (
        <Conflict
          {...{ id, branch, head, file, error, busy }}
          onCommit={(onto) => void edit.commit(onto, deploy)}
          onTake={edit.take}
        />
      )}
      {!conflict && error !== undefined && <ErrorLine error={error} />}
      <div className="row wrap">
        <Button type="submit" look="primary" busy={busy} disabled={!edit.dirty || wrong !== undefined}>
          Commit
        </Button>
        <Button
          look="quiet"
          onClick={() => {
            edit.drop();
            navigate(back);
          }}
        >
          Cancel
        </Button>
      </div>
    </form>
  );
};

const Loading = () => (
  <div className="in-card">
    <SkeletonLines lines={8} />
  </div>
);

interface TargetProps {
  repo: Repo;
  branch: string | undefined;
  value: string;
  onChange: (branch: string) => void;
  deploy: boolean;
  onDeploy: (deploy: boolean) => void;
}

/** The branch that is committed to, and whether that deploys. */
const Target = ({ repo, branch, value, onChange, deploy, onDeploy }: TargetProps) => (
  <>
    <Field
      label="Branch"
      hint={
        branch === undefined
          ? 'A tag or a commit stays what it is: name a branch to begin from it.'
          : 'Another name begins a new branch from here.'
      }
    >
      {(wired) => <Input {...wired} mono required value={value} onChange={(event) => onChange(event.target.value)} />}
    </Field>
    {value.trim() !== '' && deploysBranch(repo, value.trim()) && (
      <Checkbox checked={deploy} onChange={(event) => onDeploy(event.target.checked)}>
        Deploy{' '}
        {value.trim() === (repo.deploy_branch ?? repo.default_branch) ? (
          <code>{repo.deploy_service}</code>
        ) : (
          'a preview'
        )}{' '}
        with this commit
      </Checkbox>
    )}
  </>
);
