import { expect } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateRemote } from '#engines/git/locate';
import { createMirror, type MirrorSource, type MirrorTimes } from '#engines/git/mirror';
import { createPlaces } from '#engines/git/places';
import type { RefUpdate } from '#engines/git/port';
import { createRunGit } from '#engines/git/run';
import { createOutgoing } from '#engines/outgoing/index';
import { systemClock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import { createLog } from '#kernel/log';
import { atEnd } from '#test/support/preload.ts';
import { gitHere, type Outside } from './outside-server.ts';

export interface Options {
  hosts?: Record<string, string[]>;
  allow?: string;
  times?: MirrorTimes;
  git?: string;
  ca?: string;
}

const TIMES: MirrorTimes = { deadlineMs: 20_000, silentSeconds: 10 };
export const ZEROS = '0'.repeat(40);

/** A berth that mirrors: one empty repository `r1`, and names that only its own resolver knows. */
export const berth = ({ hosts = {}, allow = 'git.example', times = TIMES, git = 'git', ca }: Options = {}) => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-mirror-'));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  const bare = join(dir, 'r1.git');
  gitHere(dir, 'init', '--quiet', '--bare', bare);
  const places = createPlaces(dir);
  const log = createLog('error', () => undefined, systemClock.now);
  const run = createRunGit({ places, clock: systemClock, git });
  const mirror = createMirror({ git: run, places, clock: systemClock, log }, times);
  const outgoing = createOutgoing({
    clock: systemClock,
    allow,
    networkPool: '10.208.0.0/12',
    resolve: async (host) => hosts[host] ?? (host === 'git.example' ? ['127.0.0.1'] : []),
    ...(ca === undefined ? {} : { ca }),
  });
  const signal = AbortSignal.timeout(60_000);
  const update = async (
    url: string,
    given: { credential?: MirrorSource['credential']; maxBytes?: number; signal?: AbortSignal } = {},
  ): Promise<RefUpdate[]> => {
    const located = await locateRemote(outgoing, { url, credential: given.credential ?? null, signal });
    return mirror('r1', { ...located, maxBytes: given.maxBytes ?? 1e9, signal: given.signal ?? signal });
  };
  const refs = (): string => gitHere(bare, 'for-each-ref', '--format=%(refname) %(objectname)');
  /** As after every mirror, whatever happened: sound, and nothing of the fetch left. */
  const expectSound = (): void => {
    gitHere(bare, 'fsck', '--full', '--strict');
    expect(existsSync(join(bare, 'mirror.tmp'))).toBe(false);
    const odd = readdirSync(join(bare, 'objects/pack')).filter(
      (name) => !/^pack-[0-9a-f]+\.(?:pack|idx|rev)$/.test(name),
    );
    expect(odd).toEqual([]);
  };
  return { bare, outgoing, mirror, update, refs, expectSound };
};

export const outsideRefs = (outside: Outside): string =>
  gitHere(outside.bare, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags');

export const failureOf = async (promise: Promise<unknown>): Promise<BerthError> => {
  const thrown: unknown = await promise.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );
  if (thrown instanceof BerthError) return thrown;
  throw new Error('no BerthError', { cause: thrown });
};
