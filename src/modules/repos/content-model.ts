import { Type, type Static } from '@sinclair/typebox';
import { t } from 'elysia';
import { listParams } from '#http/list';
import { ErrorBodySchema, Name, nullable, oneOf } from '#kernel/schema';

/** Bytes of a file in a reply, unless a range is asked for; and the most of a range. */
export const FILE_BYTES = 1024 ** 2;
export const MAX_FILE_BYTES = 4 * 1024 ** 2;
/** Bytes of a patch in a reply. */
export const PATCH_BYTES = 1024 ** 2;
export const MAX_PATCH_BYTES = 4 * 1024 ** 2;
export const TREE_LIMIT = 1000;
export const MAX_TREE_LIMIT = 5000;

const CommitId = Type.String({ description: '40 hex digits', examples: ['1f0c3a5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f70'] });
const MovingTime = Type.String({ format: 'date-time', description: 'RFC 3339, with the offset that the commit has' });
const Person = Type.Object({ name: Type.String(), email: Type.String(), at: MovingTime });

const REF =
  'a branch, tag, full ref or commit id (also its beginning); one name for several is the branch before the tag; the default branch when omitted';
const Ref = Type.String({ minLength: 1, maxLength: 1000, description: REF });
const Path = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'relative to the root of the repository',
  examples: ['src/main.ts'],
});

export const RefSchema = Type.Object({
  name: Type.String({ description: 'without refs/heads/ or refs/tags/', examples: ['main'] }),
  ref: Type.String({ examples: ['refs/heads/main'] }),
  kind: oneOf(['branch', 'tag', 'other']),
  default: Type.Boolean({ description: 'it is the default branch' }),
  target: Type.String({ description: 'what it points at; of an annotated tag, the tag object' }),
  commit: nullable(CommitId),
  committed_at: nullable(MovingTime),
});

export const FileChangeSchema = Type.Object({
  path: Type.String(),
  from: Type.Optional(Type.String({ description: 'the path before it was renamed' })),
  change: oneOf(['added', 'modified', 'deleted', 'renamed', 'type_changed']),
  additions: nullable(Type.Integer({ description: 'lines; null for a binary file' })),
  deletions: nullable(Type.Integer()),
});

export const CommitSchema = Type.Object({
  id: CommitId,
  parents: Type.Array(CommitId),
  author: Person,
  committer: Person,
  subject: Type.String({ description: 'first line of the message' }),
  body: Type.String({ description: 'the rest of the message' }),
  files: Type.Optional(Type.Array(FileChangeSchema, { description: 'what differs from the first parent' })),
  files_truncated: Type.Optional(Type.Boolean({ description: 'there are more files than shown' })),
});

export const TreeEntrySchema = Type.Object({
  path: Type.String({ description: 'from the root; bytes that are not UTF-8 are shown as U+FFFD' }),
  raw_path: Type.Optional(Type.String({ description: 'the bytes as base64, of a path that is not UTF-8' })),
  kind: oneOf(['file', 'directory', 'symlink', 'submodule']),
  mode: Type.String({ examples: ['100644'] }),
  id: Type.String({ description: 'object id' }),
  size: nullable(Type.Integer({ description: 'bytes of a file' })),
});

export const TreeReply = Type.Object({
  commit: CommitId,
  path: Type.String({ description: 'the folder; empty for the root' }),
  entries: Type.Array(TreeEntrySchema),
  next_cursor: nullable(Type.String()),
});

export const FileReply = Type.Object({
  commit: CommitId,
  path: Type.String(),
  kind: oneOf(['file', 'symlink'], { description: 'the content of a symlink is its target; it is never followed' }),
  mode: Type.String(),
  executable: Type.Boolean(),
  id: Type.String({ description: 'object id: the same for the same content' }),
  size: Type.Integer({ description: 'bytes of the whole file' }),
  binary: Type.Boolean(),
  encoding: oneOf(['utf-8', 'base64'], { description: 'base64: what is not text in UTF-8' }),
  content: Type.String(),
  offset: Type.Integer({ description: 'bytes before this content' }),
  length: Type.Integer({ description: 'bytes of this content' }),
  next_offset: nullable(Type.Integer({ description: 'where to go on; null at the end of the file' })),
});

const Patch = {
  files: Type.Array(FileChangeSchema),
  patch: Type.String({ description: 'unified diff' }),
  truncated: Type.Boolean({ description: 'patch or files were cut; see max_bytes' }),
};

export const DiffReply = Type.Object({ commit: CommitId, ...Patch });

export const CompareReply = Type.Object({
  base: CommitId,
  head: CommitId,
  merge_base: nullable(CommitId),
  ahead: Type.Integer({ description: 'commits that head has and base has not' }),
  behind: Type.Integer({ description: 'commits that base has and head has not' }),
  commits: Type.Array(CommitSchema, { description: 'newest of those that only head has' }),
  ...Patch,
});

const integer = (minimum: number, maximum: number, description: string) =>
  Type.Optional(t.Numeric({ minimum, maximum, multipleOf: 1, description }));

const ListedKind = oneOf(['branch', 'tag']);
const ArchiveFormat = oneOf(['tar.gz', 'tar']);
const ContentEncoding = oneOf(['utf-8', 'base64'], { description: 'of content; utf-8 when omitted' });

export const RefsQuery = Type.Object({
  ...listParams,
  kind: Type.Optional(ListedKind),
});
export const CommitsQuery = Type.Object({
  ...listParams,
  ref: Type.Optional(Ref),
  path: Type.Optional(Path),
  files: Type.Optional(t.BooleanString({ description: 'show the changed files of each commit' })),
});
export const TreeQuery = Type.Object({
  cursor: listParams.cursor,
  limit: integer(1, MAX_TREE_LIMIT, `how many, ${TREE_LIMIT} when omitted`),
  ref: Type.Optional(Ref),
  path: Type.Optional(Path),
  recursive: Type.Optional(t.BooleanString({ description: 'all files below, instead of the entries of the folder' })),
});
export const FileQuery = Type.Object({
  path: Path,
  ref: Type.Optional(Ref),
  offset: integer(0, Number.MAX_SAFE_INTEGER, 'bytes to skip'),
  length: integer(1, MAX_FILE_BYTES, `bytes; ${FILE_BYTES} when omitted`),
});
export const ReadmeQuery = Type.Object({
  ref: Type.Optional(Ref),
  path: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: 'folder; the root when omitted' })),
});
const maxBytes = integer(1, MAX_PATCH_BYTES, `bytes of the patch; ${PATCH_BYTES} when omitted`);
export const DiffQuery = Type.Object({ path: Type.Optional(Path), max_bytes: maxBytes });
export const CompareQuery = Type.Object({
  base: Ref,
  head: Type.Optional(Ref),
  limit: integer(1, 200, 'how many commits, 50 when omitted'),
  max_bytes: maxBytes,
});
export const ArchiveQuery = Type.Object({
  ref: Type.Optional(Ref),
  path: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: 'folder; the root when omitted' })),
  format: Type.Optional(ArchiveFormat),
});

const FileAction = Type.Object(
  {
    path: Path,
    content: Type.Optional(Type.String({ description: 'the whole file; empty for an empty one' })),
    encoding: Type.Optional(ContentEncoding),
    executable: Type.Optional(Type.Boolean({ description: 'a file keeps its mode when omitted' })),
    delete: Type.Optional(Type.Literal(true, { description: 'a folder is deleted with all that is in it' })),
    move_from: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: 'the path that it has now' })),
  },
  { additionalProperties: false },
);

export const CommitFilesBody = Type.Object(
  {
    branch: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'the default branch when omitted; made when new' }),
    ),
    from: Type.Optional(
      Type.String({ ...Ref, description: 'where a new branch starts; the default branch when omitted' }),
    ),
    message: Type.String({
      minLength: 1,
      maxLength: 65_536,
      description: 'of the commit; its first line is the subject',
    }),
    files: Type.Array(FileAction, { minItems: 1, maxItems: 1000 }),
    expected_head: Type.Optional(
      nullable(
        Type.String({
          pattern: '^[0-9a-f]{40}$',
          description: 'CONFLICT unless the branch points to this commit; null: it must not exist',
        }),
      ),
    ),
    deploy: Type.Optional(Type.Boolean({ description: 'false: deploy nothing, whatever the branch' })),
  },
  { additionalProperties: false },
);

export const CommitFilesReply = Type.Object({
  branch: Type.String(),
  changed: Type.Boolean({ description: 'false: the files are like that already, and no commit was made' }),
  before: nullable(Type.String({ description: 'where the branch was; null when it is new' })),
  commit: CommitSchema,
  deploys: Type.Array(
    Type.Object({
      service: Name,
      operation_id: nullable(Type.String()),
      stream_url: nullable(Type.String()),
      service_url: nullable(Type.String()),
      error: nullable(ErrorBodySchema),
    }),
    { description: 'what the commit deploys' },
  ),
});

export type RefView = Static<typeof RefSchema>;
export type CommitView = Static<typeof CommitSchema>;
export type TreeView = Static<typeof TreeReply>;
export type FileView = Static<typeof FileReply>;
export type DiffView = Static<typeof DiffReply>;
export type CompareView = Static<typeof CompareReply>;
export type CommitFiles = Static<typeof CommitFilesBody>;
export type CommittedFiles = Static<typeof CommitFilesReply>;
export type FileChangeBody = Static<typeof FileAction>;
