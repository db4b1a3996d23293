import { useEffect, useState } from 'react';
import type { CommitFiles, CommittedFiles, FileView } from '#modules/repos';
import { ApiError, asApiError, call } from '../api.ts';
import { useSession } from '../session/session.ts';
import { useAction } from '../ui/action.ts';
import { dropDraft, keepDraft, takeDraft } from './drafts.ts';
import { nameOf, type PartProps, type RepoId } from './places.ts';
import { refreshRepos, repoApi } from './reads.ts';

export interface Edited extends PartProps {
  /** What is edited; undefined for a new file. */
  file: FileView | undefined;
  /** The branch that is looked at; undefined for a tag or a commit, which can't be committed to. */
  branch: string | undefined;
  /** The commit that the text is from; null in an empty repository. */
  head: string | null;
  text: string;
}

/** What somebody writes, and its commit. */
export const useEdit = ({ id, at, path: begun, file, branch, text, head: from }: Edited) => {
  const { token_id } = useSession();
  const draftKey = `${token_id} ${id.project}/${id.repo} ${at ?? ''} ${file === undefined ? 'new' : 'edit'} ${begun}`;
  const [draft] = useState(() => takeDraft(draftKey));
  const [initial, setInitial] = useState(draft?.text ?? text);
  const [content, setContent] = useState(initial);
  const [head, setHead] = useState(draft?.head ?? from);
  const [path, setPath] = useState(draft?.path ?? begun);
  const [message, setMessage] = useState(draft?.message ?? '');
  const { busy, error, run, clear } = useAction();
  const [reply, setReply] = useState<CommittedFiles>();
  const dirty = reply === undefined && (content !== text || path !== begun);
  useLeaveGuard(dirty);
  useEffect(() => {
    if (dirty) keepDraft(draftKey, { text: content, path, message, head });
    else dropDraft(draftKey);
  }, [draftKey, dirty, content, path, message, head]);

  const moved = file !== undefined && path !== begun;
  const standard = moved ? `Move ${begun} to ${path}` : `${file === undefined ? 'Add' : 'Change'} ${nameOf(path)}`;
  const commit = async (onto: { head: string | null; branch: string }, deploy: boolean): Promise<void> => {
    const isThere = onto.branch === branch || onto.head === null;
    const body: CommitFiles = {
      branch: onto.branch,
      message: message.trim() === '' ? standard : message,
      files: [{ path, content, ...(moved && { move_from: begun }) }],
      expected_head: isThere ? onto.head : null,
      ...(!isThere && onto.head !== null && { from: onto.head }),
      ...(!deploy && { deploy: false }),
    };
    await run(async () => {
      if ((file === undefined || moved) && onto.head !== null) await requireFree(id, onto.head, path);
      setReply(await call<CommittedFiles>('POST', repoApi(id, 'commits'), { json: body }));
      refreshRepos(id.project);
    });
  };
  return {
    initial,
    setContent,
    head,
    path,
    setPath,
    message,
    setMessage,
    standard,
    busy,
    error,
    reply,
    dirty,
    commit,
    restored: draft !== undefined,
    /** Begins again from another state of the file. */
    take: (theirs: FileView): void => {
      setInitial(theirs.content);
      setContent(theirs.content);
      setHead(theirs.commit);
      clear();
    },
    drop: (): void => dropDraft(draftKey),
  };
};

/** Nobody means to write over a file that they don't see. */
const requireFree = async (id: RepoId, ref: string, path: string): Promise<void> => {
  try {
    await call('GET', repoApi(id, 'file'), { query: { ref, path, offset: 0, length: 1 } });
  } catch (thrown) {
    if (asApiError(thrown).status === 404) return;
    throw thrown;
  }
  throw new ApiError(
    {
      code: 'EXISTS',
      message: `${path} is there already`,
      hint: 'choose another path, or edit that file',
      retryable: false,
    },
    0,
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
