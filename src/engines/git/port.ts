import type { Readable } from 'node:stream';

/** A bare repository on disk, by an opaque id that never changes; names are the business of others. */
export type RepoId = string;

/** 40 (SHA-1) or 64 (SHA-256) lower-case hex digits. */
export type ObjectId = string;

export interface Ref {
  /** Full name, such as `refs/heads/main`; any legal name (git-check-ref-format(1)). */
  name: string;
  kind: 'branch' | 'tag' | 'other';
  /** What it points at; for an annotated tag the tag object. */
  target: ObjectId;
  /** The commit, for tags too; null when it leads to no commit. */
  commit: ObjectId | null;
  /** Of the commit, RFC 3339; null without one. */
  committed_at: string | null;
}

export interface Person {
  name: string;
  email: string;
  /** RFC 3339 with the offset that the commit has. */
  at: string;
}

export interface Commit {
  id: ObjectId;
  parents: ObjectId[];
  author: Person;
  committer: Person;
  /** First line. */
  subject: string;
  /** The rest, without the blank line between. */
  body: string;
  /** Files that differ from the first parent; only when asked for. */
  files?: FileChange[];
  /** There are more than `files` has. */
  files_truncated?: boolean;
}

export interface FileChange {
  path: string;
  /** Path before a rename. */
  from?: string;
  change: 'added' | 'modified' | 'deleted' | 'renamed' | 'type_changed';
  additions: number | null;
  deletions: number | null;
}

export interface TreeEntry {
  /** From the root of the repository; not valid UTF-8 bytes are shown as U+FFFD, and `raw_path` then has them as base64. */
  path: string;
  raw_path?: string;
  kind: 'file' | 'directory' | 'symlink' | 'submodule';
  /** `100644`, `100755`, `120000`, `040000`, `160000`. */
  mode: string;
  id: ObjectId;
  /** Bytes of a file; null for others. */
  size: number | null;
}

export interface FileContent {
  path: string;
  id: ObjectId;
  mode: string;
  kind: 'file' | 'symlink';
  /** Bytes in all. */
  size: number;
  /** What was asked for of it. A symlink's is the text of its target: it is never followed. */
  bytes: Uint8Array;
  offset: number;
  binary: boolean;
}

export interface Diff {
  files: FileChange[];
  /** Unified, as git prints it; cut at the cap. */
  patch: string;
  truncated: boolean;
}

/** One change of an API commit. Paths are relative, without `..`, `.git` or empty parts. */
export type CommitAction =
  | { action: 'write'; path: string; content: Uint8Array; executable?: boolean }
  | { action: 'delete'; path: string }
  | { action: 'move'; from: string; path: string }
  | { action: 'mode'; path: string; executable: boolean };

export interface CommitRequest {
  /** Branch without `refs/heads/`; made when the repository or the branch is empty. */
  branch: string;
  /** Where a new branch starts; the default branch's head when undefined. */
  from?: ObjectId;
  message: string;
  author: { name: string; email: string };
  /** Milliseconds since the epoch. */
  at: number;
  actions: CommitAction[];
  /** CONFLICT unless the branch points here; null: it must not exist. */
  expectedHead?: ObjectId | null;
  /** Checks everything against the repository, and writes nothing. */
  dryRun?: boolean;
}

export interface WrittenCommit {
  id: ObjectId;
  /** Where the branch was; null when it is new. */
  before: ObjectId | null;
  /** The repository had no branch; this one is its default branch now. */
  firstBranch: boolean;
}

export interface RefUpdate {
  ref: string;
  /** All zeros for a creation. */
  before: ObjectId;
  /** All zeros for a deletion. */
  after: ObjectId;
  /** Null when it was done, else git's reason. */
  refused: string | null;
}

/** How a push went, known once git has updated the refs. */
export interface PushOutcome {
  updates: RefUpdate[];
  /** `-o` options of the client, bounded. */
  options: string[];
}

export interface PushSink {
  /**
   * Called after the refs are updated and before the reply ends. What it yields reaches the client as `remote:` lines while
   * it is connected; it runs to its end whether or not somebody still listens.
   */
  onPushed(outcome: PushOutcome, listening: AbortSignal): AsyncIterable<string>;
}

export interface RpcRequest {
  repo: RepoId;
  /** The request's body as it came, still gzipped when `gzip`. */
  body: ReadableStream<Uint8Array>;
  gzip: boolean;
  /** The header `Git-Protocol`, such as `version=2`. */
  protocol: string | null;
  signal: AbortSignal;
}

export interface Limits {
  /** Bytes of one push (`receive.maxInputSize`). */
  maxPushBytes: number;
}

/**
 * The port to git repositories. Contract, held by test/contracts/git.ts:
 * - only git's own programs touch repositories; argv arrays, an environment built from nothing, no hooks of any content, no
 *   configuration but berth's own, no network, no submodules, no links followed;
 * - whatever name, path, ref or message comes from outside reaches git as data (after `--`, by stdin, or validated), byte-equal;
 * - a repository is never left broken: `git fsck` is clean after a kill at any moment;
 * - reads see a consistent state and cost no checkout;
 * - memory is bounded whatever the size of the repository, push or file;
 * - NOT_FOUND for missing repositories, refs, paths, commits; INVALID_INPUT for what cannot be a ref, path or message.
 */
export interface Git {
  /** Version of git on this machine. */
  version(): Promise<string>;
  create(repo: RepoId, defaultBranch: string): Promise<void>;
  /** Idempotent. */
  remove(repo: RepoId): Promise<void>;
  /** Ids of all repositories on disk. */
  list(): Promise<RepoId[]>;
  setDefaultBranch(repo: RepoId, branch: string): Promise<void>;

  /** Smart HTTP (gitprotocol-http(5)): `GET info/refs?service=…`. */
  advertise(
    repo: RepoId,
    service: 'git-upload-pack' | 'git-receive-pack',
    options: { protocol: string | null; signal: AbortSignal },
  ): Promise<ReadableStream<Uint8Array>>;
  /** `POST git-upload-pack`. */
  uploadPack(request: RpcRequest): Promise<ReadableStream<Uint8Array>>;
  /** `POST git-receive-pack`. */
  receivePack(request: RpcRequest, limits: Limits, sink: PushSink): Promise<ReadableStream<Uint8Array>>;

  /** The commit that a branch, tag, full ref or (abbreviated) commit id names; the default branch for undefined. */
  resolve(repo: RepoId, ref: string | undefined): Promise<ObjectId>;
  refs(repo: RepoId, page: { limit: number; after: string | undefined; prefix?: string }): Promise<Ref[]>;
  commits(
    repo: RepoId,
    query: { ref: string | undefined; path?: string; limit: number; after?: ObjectId; files?: boolean },
  ): Promise<Commit[]>;
  commit(repo: RepoId, id: string): Promise<Commit>;
  tree(
    repo: RepoId,
    query: {
      ref: string | undefined;
      path?: string;
      recursive: boolean;
      limit: number;
      /** The last entry of the page before. */
      after?: Pick<TreeEntry, 'path' | 'raw_path'>;
    },
  ): Promise<TreeEntry[]>;
  file(
    repo: RepoId,
    query: { ref: string | undefined; path: string; offset?: number; length: number },
  ): Promise<FileContent>;
  /** Of a commit against its first parent. */
  diff(repo: RepoId, id: string, options: { maxBytes: number; path?: string }): Promise<Diff>;
  /** From the merge base of both to `head`, with the commits between. */
  compare(
    repo: RepoId,
    range: { base: string; head: string; maxBytes: number; limit: number },
  ): Promise<{ mergeBase: ObjectId | null; ahead: number; behind: number; commits: Commit[]; diff: Diff }>;
  /** The tree of a commit (below `root`) as a tar, gzipped when asked, links as they are. */
  archive(
    repo: RepoId,
    query: { commit: ObjectId; root?: string; gzip: boolean; prefix?: string; signal: AbortSignal },
  ): Promise<Readable>;
  /** One atomic commit; resolves with `undefined` when nothing would change, or in a dry run. */
  writeCommit(repo: RepoId, request: CommitRequest): Promise<WrittenCommit | undefined>;
  deleteRef(repo: RepoId, ref: string): Promise<void>;

  sizeBytes(repo: RepoId): Promise<number>;
  /** Packs and prunes when git thinks it is time; nothing that is reachable or young is lost. */
  maintain(repo: RepoId, signal: AbortSignal): Promise<void>;
  /** Copies all branches and tags of `url` into the repository, pruning what is gone there; resolves with what changed. */
  mirror(
    repo: RepoId,
    from: {
      url: string;
      /** Address that the host was resolved and checked to; the connection goes there and nowhere else. */
      pinned: { host: string; port: number; address: string };
      credential: { user: string; password: string } | null;
      maxBytes: number;
      signal: AbortSignal;
    },
  ): Promise<RefUpdate[]>;
}
