import { Suspense, lazy, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { CommitFiles, CommittedFiles, FileView } from '#modules/repos';
import { asApiError, call } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Checkbox, Field, Input, TextArea } from '../ui/field.tsx';
import { Card, Notice, SkeletonLines } from '../ui/layout.tsx';
import { Committed, deploysBranch } from './committed.tsx';
import { Conflict } from './conflict.tsx';
import { dropDraft, keepDraft, takeDraft } from './drafts.ts';
import { nameOf, repoTo, type PartProps } from './places.ts';
import { refreshRepos, repoApi } from './reads.ts';

const CodeView = lazy(() => import('./code-view.tsx'));

interface EditFormProps extends PartProps {
  /** What is edited; undefined for a new file. */
  file: FileView | undefined;
  /** The branch that is looked at; undefined for a tag or a commit, which can't be committed to. */
  branch: string | undefined;
  /** The commit that the text is from; null in an empty repository. */
  head: string | null;
  text: string;
}

/** Text, message and branch; then one commit. */
export const EditForm = (props: EditFormProps) => {
  const { id, repo, at, path: begun, file, branch, text } = props;
  const draftKey = `${id.project}/${id.repo} ${at ?? ''} ${file === undefined ? 'new' : 'edit'} ${begun}`;
  const [draft] = useState(() => takeDraft(draftKey));
  const [initial, setInitial] = useState(draft?.text ?? text);
  const [content, setContent] = useState(initial);
  const [head, setHead] = useState(draft?.head ?? props.head);
  const [path, setPath] = useState(draft?.path ?? begun);
  const [message, setMessage] = useState(draft?.message ?? '');
  const [target, setTarget] = useState(branch ?? '');
  const [deploy, setDeploy] = useState(true);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [reply, setReply] = useState<CommittedFiles>();
  const [, navigate] = useLocation();
  const dirty = reply === undefined && (content !== text || path !== begun);
  useLeaveGuard(dirty);
  useEffect(() => {
    if (dirty) keepDraft(draftKey, { text: content, path, message, head });
    else dropDraft(draftKey);
  }, [draftKey, dirty, content, path, message, head]);

  const standard =
    file === undefined ? `Add ${nameOf(path)}` : path === begun ? `Change ${nameOf(path)}` : `Move ${begun} to ${path}`;
  const commit = async (onto: { head: string | null; branch: string }): Promise<void> => {
    const isThere = onto.branch === branch || (repo.empty && onto.head === null);
    const body: CommitFiles = {
      branch: onto.branch,
      message: message.trim() === '' ? standard : message,
      files: [{ path, content, ...(file !== undefined && path !== begun && { move_from: begun }) }],
      expected_head: isThere ? onto.head : null,
      ...(!isThere && onto.head !== null && { from: onto.head }),
      ...(!deploy && { deploy: false }),
    };
    setBusy(true);
    setError(undefined);
    try {
      setReply(await call<CommittedFiles>('POST', repoApi(id, 'commits'), { json: body }));
      setHead(onto.head);
      dropDraft(draftKey);
      refreshRepos(id.project);
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  if (reply !== undefined) return <Committed id={id} repo={repo} reply={reply} path={path} />;

  const wrong = path === '' || path.endsWith('/') ? 'Give the file a name.' : undefined;
  const conflict = asApiError(error).code === 'CONFLICT' && target === branch && head !== null;
  const goesLive = target !== '' && deploysBranch(repo, target);
  return (
    <form
      className="stack"
      aria-label={file === undefined ? 'New file' : `Edit ${begun}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (wrong === undefined && target.trim() !== '') void commit({ head, branch: target.trim() });
      }}
    >
      {draft !== undefined && <Notice>What you had written here before is back. It is not committed yet.</Notice>}
      <Field
        label="Path"
        error={path !== begun ? wrong : undefined}
        hint={file === undefined ? undefined : 'Another path moves the file.'}
      >
        {(wired) => (
          <Input
            {...wired}
            mono
            required
            value={path}
            placeholder="src/main.ts"
            onChange={(event) => setPath(event.target.value)}
          />
        )}
      </Field>
      <Card flush>
        <Suspense
          fallback={
            <div className="in-card">
              <SkeletonLines lines={8} />
            </div>
          }
        >
          <CodeView
            text={initial}
            fileName={nameOf(path)}
            label={`Content of ${path === '' ? 'the new file' : path}`}
            onChange={setContent}
          />
        </Suspense>
      </Card>
      <p className="small quiet">Tab indents; press Escape, then Tab, to leave the text.</p>
      <Field label="Message of the commit">
        {(wired) => (
          <TextArea
            {...wired}
            rows={2}
            placeholder={standard}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        )}
      </Field>
      <Field
        label="Branch"
        hint={
          branch === undefined
            ? 'A tag or a commit stays what it is: name a branch to begin from it.'
            : 'Another name begins a new branch from here.'
        }
      >
        {(wired) => (
          <Input {...wired} mono required value={target} onChange={(event) => setTarget(event.target.value)} />
        )}
      </Field>
      {goesLive && (
        <Checkbox checked={deploy} onChange={(event) => setDeploy(event.target.checked)}>
          Deploy{' '}
          {target === (repo.deploy_branch ?? repo.default_branch) ? <code>{repo.deploy_service}</code> : 'a preview'}{' '}
          with this commit
        </Checkbox>
      )}
      {conflict && head !== null && branch !== undefined ? (
        <Conflict
          id={id}
          branch={branch}
          head={head}
          file={file}
          error={error}
          busy={busy}
          onCommit={(onto) => void commit(onto)}
          onTake={(theirs) => {
            setInitial(theirs.content);
            setContent(theirs.content);
            setHead(theirs.commit);
            setError(undefined);
          }}
        />
      ) : (
        error !== undefined && <ErrorLine error={error} />
      )}
      <div className="row wrap">
        <Button type="submit" look="primary" busy={busy} disabled={!dirty || wrong !== undefined}>
          Commit
        </Button>
        <Button
          look="quiet"
          onClick={() => {
            dropDraft(draftKey);
            navigate(
              file === undefined
                ? repoTo(id, 'tree', begun.replace(/\/$/, ''), { ref: at })
                : repoTo(id, 'file', begun, { ref: at }),
            );
          }}
        >
          Cancel
        </Button>
      </div>
    </form>
  );
};

/** The browser asks before a reload or a closed tab loses what was written. */
const useLeaveGuard = (dirty: boolean): void => {
  useEffect(() => {
    if (!dirty) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    globalThis.addEventListener('beforeunload', ask);
    return () => globalThis.removeEventListener('beforeunload', ask);
  }, [dirty]);
};
