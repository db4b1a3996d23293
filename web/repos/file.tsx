import { useQuery } from '@tanstack/react-query';
import { Suspense, lazy, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { FileView } from '#modules/repos';
import { asApiError } from '../api.ts';
import { useAction } from '../ui/action.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/code.tsx';
import { Segmented } from '../ui/field.tsx';
import { bytes, count } from '../ui/format.ts';
import { Card, Empty, Notice, SkeletonLines } from '../ui/layout.tsx';
import { toast } from '../ui/toast.tsx';
import { LastCommit } from './commit-line.tsx';
import { DeleteFile } from './delete-file.tsx';
import { downloadFile } from './download.ts';
import { dataUrl, imageType } from './images.ts';
import { isGone, NotHere } from './not-here.tsx';
import { PathLine } from './path-line.tsx';
import { Picture } from './picture.tsx';
import { nameOf, parentOf, parseLines, repoTo, resolvePath, type PartProps } from './places.ts';
import { fileRead, refsRead } from './reads.ts';
import { RefPicker } from './ref-picker.tsx';

const CodeView = lazy(() => import('./code-view.tsx'));
const Markdown = lazy(() => import('./markdown.tsx'));

/** One file: its text, or what it is. */
export const FilePage = (part: PartProps) => {
  const { id, repo, at, path } = part;
  const { data, error, refetch } = useQuery(fileRead(id, { ref: at, path }));
  const file = isGone(error) ? undefined : data;
  return (
    <div className="stack">
      <div className="row wrap">
        <RefPicker id={id} current={at ?? repo.default_branch} hrefOf={(ref) => repoTo(id, 'file', path, { ref })} />
        <PathLine id={id} at={at} path={path} />
        {file !== undefined && <Actions {...part} file={file} />}
      </div>
      {file === undefined && error !== null && (
        <NotHere {...part} section="file" error={error} onRetry={() => void refetch()} />
      )}
      {file === undefined && error === null && <SkeletonLines lines={8} />}
      {file !== undefined && (
        <Card flush>
          <LastCommit id={id} at={at} path={path} />
          <Content {...part} file={file} />
        </Card>
      )}
    </div>
  );
};

/** Whether a ref can be committed to: only branches move. */
export const useBranch = ({ id, repo, at }: Pick<PartProps, 'id' | 'repo' | 'at'>): string | undefined => {
  const { data } = useQuery(refsRead(id));
  if (at === undefined) return repo.default_branch;
  return data?.branches.find(({ name, ref }) => name === at || ref === at)?.name;
};

const Actions = ({ file, ...part }: PartProps & { file: FileView }) => {
  const { id, repo, at, path } = part;
  const [deleting, setDeleting] = useState(false);
  const { busy, run } = useAction();
  const branch = useBranch(part);
  const editable =
    repo.mirror_of === null && file.kind === 'file' && file.encoding === 'utf-8' && file.next_offset === null;
  const download = (): Promise<void> =>
    downloadFile(id, file).catch((thrown: unknown) => {
      toast('bad', `Not downloaded: ${asApiError(thrown).message}`);
    });
  return (
    <div className="row wrap">
      {editable && (
        <LinkButton slim to={repoTo(id, 'edit', path, { ref: at })}>
          Edit
        </LinkButton>
      )}
      {file.kind === 'file' && (
        <Button slim icon="download" busy={busy} onClick={() => void run(download)}>
          Download
        </Button>
      )}
      {file.encoding === 'utf-8' && file.next_offset === null && (
        <CopyButton text={file.content} label="Copy the file" />
      )}
      {repo.mirror_of === null && branch !== undefined && (
        <Button slim look="danger" icon="trash" onClick={() => setDeleting(true)}>
          Delete
        </Button>
      )}
      {deleting && branch !== undefined && (
        <DeleteFile id={id} repo={repo} branch={branch} file={file} onClose={() => setDeleting(false)} />
      )}
    </div>
  );
};

const Content = ({ id, at, path, file }: PartProps & { file: FileView }) => {
  const type = imageType(path);
  if (file.kind === 'symlink') return <Symlink id={id} at={at} file={file} />;
  if (type !== undefined && file.next_offset === null && file.encoding === 'base64')
    return <Picture key={file.id} src={dataUrl(type, file)} name={nameOf(path)} size={file.size} />;
  if (type !== undefined && file.next_offset !== null)
    return (
      <Empty icon="file" title="A large picture">
        {bytes(file.size)}; that is more than is shown here. Download it instead.
      </Empty>
    );
  if (file.encoding === 'base64')
    return (
      <Empty icon="file" title="A binary file">
        {bytes(file.size)}; there is no text to show. Download it instead.
      </Empty>
    );
  if (file.size === 0) return <Empty icon="file" title="An empty file" />;
  return <Text id={id} at={at} file={file} />;
};

const Symlink = ({ id, at, file }: Pick<PartProps, 'id' | 'at'> & { file: FileView }) => {
  const target = resolvePath(parentOf(file.path), file.content);
  return (
    <Empty icon="link" title="A symbolic link">
      It points at{' '}
      {target === undefined || file.content.startsWith('/') ? (
        <code>{file.content}</code>
      ) : (
        <Link href={repoTo(id, 'file', target, { ref: at })}>
          <code>{file.content}</code>
        </Link>
      )}
      .
    </Empty>
  );
};

type Shown = 'code' | 'rendered';

const Text = ({ id, at, file }: Pick<PartProps, 'id' | 'at'> & { file: FileView }) => {
  const rendered = file.next_offset === null ? renderedAs(file.path) : undefined;
  const [lines, choose] = useLines();
  const [shown, setShown] = useState<Shown>(rendered !== undefined && lines === undefined ? 'rendered' : 'code');
  return (
    <>
      <div className="file-bar">
        <span className="small faint grow">
          {file.next_offset === null && `${count(linesOf(file.content), 'line')} · `}
          {bytes(file.size)}
          {file.executable && ' · executable'}
          {lines !== undefined &&
            (lines.from === lines.to ? ` · line ${lines.from}` : ` · lines ${lines.from} to ${lines.to}`)}
        </span>
        {rendered !== undefined && (
          <Segmented
            label="Show as"
            value={shown}
            onChange={setShown}
            options={[
              { value: 'rendered', label: rendered === 'picture' ? 'Picture' : 'Rendered' },
              { value: 'code', label: 'Source' },
            ]}
          />
        )}
      </div>
      {file.next_offset !== null && (
        <div className="in-card">
          <Notice tone="warn">
            Only the first {bytes(file.length)} of {bytes(file.size)} are shown. Download the file to read all of it.
          </Notice>
        </div>
      )}
      <Suspense
        fallback={
          <div className="in-card">
            <SkeletonLines lines={6} />
          </div>
        }
      >
        {shown === 'rendered' && rendered === 'picture' ? (
          <Picture key={file.id} src={dataUrl('image/svg+xml', file)} name={nameOf(file.path)} size={file.size} />
        ) : shown === 'rendered' ? (
          <div className="in-card">
            <Markdown id={id} at={at} folder={parentOf(file.path)} text={file.content} />
          </div>
        ) : (
          <CodeView
            text={file.content}
            fileName={nameOf(file.path)}
            label={`Content of ${file.path}`}
            lines={lines}
            onLine={choose}
          />
        )}
      </Suspense>
    </>
  );
};

/** As editors count them: a line end at the end begins no other. */
const linesOf = (text: string): number => (text.match(/\n/g)?.length ?? 0) + (text.endsWith('\n') ? 0 : 1);

/** What a text can be shown as beside its source. A picture of SVG runs no scripts and asks for nothing. */
const renderedAs = (path: string): 'markdown' | 'picture' | undefined => {
  if (/\.(?:md|markdown)$/i.test(path)) return 'markdown';
  return imageType(path) === 'image/svg+xml' ? 'picture' : undefined;
};

/** The lines that the address names; pressing a number names it, with Shift up to there. */
const useLines = () => {
  const [, navigate] = useLocation();
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = (): void => setHash(location.hash);
    globalThis.addEventListener('hashchange', read);
    globalThis.addEventListener('popstate', read);
    return () => {
      globalThis.removeEventListener('hashchange', read);
      globalThis.removeEventListener('popstate', read);
    };
  }, []);
  const lines = parseLines(hash);
  const choose = (line: number, extend: boolean): void => {
    const other = extend && lines !== undefined ? lines.from : line;
    const [from, to] = other < line ? [other, line] : [line, other];
    const next = from === to ? `#L${from}` : `#L${from}-L${to}`;
    navigate(`${location.pathname}${location.search}${next}`, { replace: true });
    setHash(next);
  };
  return [lines, choose] as const;
};
