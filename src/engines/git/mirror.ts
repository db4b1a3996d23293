import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { isIPv6, isIP } from 'node:net';
import { join } from 'node:path';
import { BerthError, conflict } from '#kernel/errors';
import type { GitDeps } from './deps.ts';
import { basicAuthorization } from './locate.ts';
import { mirrorFailure } from './mirror-failure.ts';
import { applyRefs, planRefs, readRefs } from './mirror-refs.ts';
import type { Git, RefUpdate, RepoId } from './port.ts';
import { GitFailure } from './run.ts';

export type MirrorSource = Parameters<Git['mirror']>[1];

export interface MirrorTimes {
  /** Of the whole transfer. */
  deadlineMs: number;
  /** A server that sends nothing for that long has hung. */
  silentSeconds: number;
}

const TIMES: MirrorTimes = { deadlineMs: 30 * 60_000, silentSeconds: 60 };
const LOOK_EVERY_MS = 100;

/** Inside the repository, so that packs are moved within one file system, and whatever a crash leaves goes with it. */
export const INCOMING = 'mirror.tmp';

/**
 * Fetches into a repository beside the real one, which borrows its objects. Only a fetch that is complete and checked is
 * moved in: packs first, then all refs at once. Until then, and after any failure, the repository is as it was.
 */
export const createMirror = (deps: GitDeps, times: MirrorTimes = TIMES): Git['mirror'] => {
  const busy = new Set<RepoId>();
  return async (repo, from) => {
    const home = deps.places.existing(repo);
    if (busy.has(repo)) throw conflict('the repository is being mirrored', 'wait until that is done', true);
    busy.add(repo);
    const incoming = join(home, INCOMING);
    try {
      await rm(incoming, { recursive: true, force: true });
      await prepare(deps, { repo, incoming, signal: from.signal });
      await fetchInto(deps, { incoming, from, times });
      return await takeOver(deps, { repo, home, incoming });
    } finally {
      await rm(incoming, { recursive: true, force: true });
      busy.delete(repo);
    }
  };
};

interface Prepare {
  repo: RepoId;
  incoming: string;
  signal: AbortSignal;
}

/** Refs of its own for all that the repository has: what they reach is not fetched again. */
const prepare = async (deps: GitDeps, { repo, incoming, signal }: Prepare): Promise<void> => {
  await mkdir(incoming, { mode: 0o700 });
  await deps.git.run({ args: ['init', '--quiet', '--bare', incoming], signal });
  await writeFile(join(incoming, 'objects/info/alternates'), '../../objects\n');
  const present = new Set((await readRefs(deps, { repo })).values());
  if (present.size === 0) return;
  await deps.git.run({
    args: ['update-ref', '--stdin', '-z'],
    env: { GIT_DIR: incoming },
    settings: { 'core.fsync': 'none' },
    input: [...present].map((id) => `create refs/have/${id}\0${id}\0`).join(''),
    signal,
  });
};

interface Fetch {
  incoming: string;
  from: MirrorSource;
  times: MirrorTimes;
}

const fetchInto = async (deps: GitDeps, { incoming, from, times }: Fetch): Promise<void> => {
  const scheme = new URL(from.url).protocol === 'http:' ? 'http' : 'https';
  const watch = watchSize(deps, { packs: join(incoming, 'objects/pack'), maxBytes: from.maxBytes });
  try {
    await deps.git.run({
      args: fetchArguments(from.url),
      env: { GIT_DIR: incoming, GIT_ALLOW_PROTOCOL: scheme },
      settings: fetchSettings(from, times),
      deadlineMs: times.deadlineMs,
      signal: AbortSignal.any([from.signal, watch.tooLarge]),
    });
    await watch.check();
    watch.tooLarge.throwIfAborted();
  } catch (thrown) {
    throw thrown instanceof GitFailure && thrown.code !== 'ENOSPC' ? mirrorFailure(thrown) : thrown;
  } finally {
    await watch.stop();
  }
};

export const fetchArguments = (url: string): string[] => [
  'fetch',
  '--quiet',
  '--force',
  '--atomic',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
  '--',
  url,
  '+refs/heads/*:refs/heads/*',
  '+refs/tags/*:refs/tags/*',
];

/** They reach git by its environment, which others on the machine cannot read, unlike its arguments. */
export const fetchSettings = (
  { pinned, credential }: Pick<MirrorSource, 'pinned' | 'credential'>,
  { silentSeconds }: Pick<MirrorTimes, 'silentSeconds'>,
): Record<string, string> => ({
  'http.followRedirects': 'false',
  'http.sslVerify': 'true',
  'http.proxy': '',
  'http.lowSpeedLimit': '1',
  'http.lowSpeedTime': String(silentSeconds),
  'protocol.version': '2',
  // Neither bundles nor packs from third addresses that the server names.
  'transfer.bundleURI': 'false',
  'fetch.uriProtocols': '',
  // The packs stay, the refs are thrown away: thousands of them would take seconds.
  'core.fsync': 'pack,derived-metadata',
  ...(isIP(pinned.host) === 0 ? { 'http.curloptResolve': resolution(pinned) } : {}),
  ...(credential === null ? {} : { 'http.extraHeader': `Authorization: ${basicAuthorization(credential)}` }),
});

const resolution = ({ host, port, address }: MirrorSource['pinned']): string =>
  `${host}:${port}:${isIPv6(address) ? `[${address}]` : address}`;

interface SizeWatch {
  /** Aborts with the error to throw. */
  tooLarge: AbortSignal;
  check(): Promise<void>;
  stop(): Promise<void>;
}

/** Git has no limit for what a fetch brings in. */
const watchSize = ({ clock }: GitDeps, { packs, maxBytes }: { packs: string; maxBytes: number }): SizeWatch => {
  const tooLarge = new AbortController();
  const over = new AbortController();
  const check = async (): Promise<void> => {
    if ((await bytesIn(packs)) > maxBytes) tooLarge.abort(largerThan(maxBytes));
  };
  const look = async (): Promise<void> => {
    try {
      while (!over.signal.aborted) {
        await check();
        await clock.sleep(LOOK_EVERY_MS, over.signal);
      }
    } catch (thrown) {
      // Without the watch there is no limit.
      tooLarge.abort(thrown);
    }
  };
  const looking = look();
  return {
    tooLarge: tooLarge.signal,
    check,
    stop: async () => {
      over.abort();
      await looking;
    },
  };
};

const bytesIn = async (folder: string): Promise<number> => {
  let size = 0;
  for (const name of await readdir(folder)) size += await sizeOf(join(folder, name));
  return size;
};

const sizeOf = async (file: string): Promise<number> => {
  try {
    return (await stat(file)).size;
  } catch (thrown) {
    // Git renames its temporary files meanwhile.
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return 0;
    throw thrown;
  }
};

const largerThan = (maxBytes: number): BerthError =>
  new BerthError('SOURCE_TOO_LARGE', `what the mirrored repository has is larger than ${maxBytes} bytes`, {
    hint: 'mirror a smaller repository, or ask the operator for a larger quota',
  });

interface TakeOver {
  repo: RepoId;
  home: string;
  incoming: string;
}

const takeOver = async (deps: GitDeps, { repo, home, incoming }: TakeOver): Promise<RefUpdate[]> => {
  const [wanted, present] = await Promise.all([
    readRefs(deps, { env: { GIT_DIR: incoming } }),
    readRefs(deps, { repo }),
  ]);
  const changes = planRefs(present, wanted);
  if (changes.length === 0) return [];
  await movePacks(join(incoming, 'objects/pack'), join(home, 'objects/pack'));
  return applyRefs(deps, repo, changes);
};

/** The index comes last: git sees a pack by it. */
const ORDER = ['.pack', '.rev', '.idx'];

const movePacks = async (from: string, to: string): Promise<void> => {
  const names = await readdir(from);
  await mkdir(to, { recursive: true });
  for (const ending of ORDER) {
    for (const name of names.filter((each) => each.endsWith(ending))) await rename(join(from, name), join(to, name));
  }
  const folder = await open(to, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};
