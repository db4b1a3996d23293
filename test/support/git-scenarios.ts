import { expect } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commit, git, newWork, tempDir } from './git-client.ts';

/** What not every client knows how to do. */
export type Feature =
  | 'shallow'
  | 'unshallow'
  | 'partial'
  | 'push-options'
  | 'atomic'
  | 'unborn'
  | 'control-characters'
  | 'v0'
  | 'v1'
  | 'force';

export interface PushResult {
  ok: boolean;
  /** What the client told its user. */
  text: string;
}

/** A git client under test. What happens in working copies is git's own; the client does what goes over the network. */
export interface GitClient {
  name: string;
  can: ReadonlySet<Feature>;
  clone(url: string, dir: string, options?: { depth?: number; filter?: string; protocol?: 0 | 1 | 2 }): Promise<void>;
  /** All branches and tags into `refs/remotes/origin/*`, without what is gone there; deeper when `unshallow`. */
  fetch(dir: string, url: string, options?: { unshallow?: boolean; protocol?: 0 | 1 | 2 }): Promise<void>;
  push(
    dir: string,
    url: string,
    refspecs: readonly string[],
    options?: { force?: boolean; atomic?: boolean; options?: readonly string[]; protocol?: 0 | 1 | 2 },
  ): Promise<PushResult>;
}

/** The server's side of a scenario: a repository that is empty at first. */
export interface Hosted {
  /** With credentials. */
  url: string;
  /** `<id> <name>` of each ref. */
  refs(): Promise<string[]>;
  /** What the last push was, when the server can tell. */
  lastPush?(): { options: string[]; refs: string[] } | undefined;
  /** Empty when all is well. */
  fsck(): Promise<string>;
}

export interface Scenario {
  name: string;
  needs: readonly Feature[];
  play(client: GitClient, hosted: Hosted): Promise<void>;
}

const cloneDir = (): string => join(tempDir(), 'clone');

const pushed = async (client: GitClient, hosted: Hosted, dir: string, ...refspecs: string[]): Promise<void> => {
  const { ok, text } = await client.push(dir, hosted.url, refspecs);
  expect({ ok, text: ok ? '' : text }).toEqual({ ok: true, text: '' });
};

/** A working copy whose `main` is on the server. */
const shared = async (client: GitClient, hosted: Hosted): Promise<string> => {
  const dir = await newWork();
  await pushed(client, hosted, dir, 'refs/heads/main:refs/heads/main');
  return dir;
};

const head = (dir: string, ref = 'HEAD'): Promise<string> => git(dir, 'rev-parse', ref);

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'an empty repository is cloned, and takes its first push',
    needs: [],
    play: async (client, hosted) => {
      const dir = cloneDir();
      await client.clone(hosted.url, dir);
      expect(existsSync(join(dir, '.git'))).toBe(true);
      if (client.can.has('unborn')) expect(await git(dir, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
      const id = await commit(await newWork(dir), { a: 'b' });
      await pushed(client, hosted, dir, 'HEAD:refs/heads/main');
      expect(await hosted.refs()).toEqual([`${id} refs/heads/main`]);
    },
  },
  {
    name: 'a clone has the bytes that were pushed: binary, empty, executable, linked and oddly named files',
    needs: [],
    play: async (client, hosted) => {
      const dir = await newWork();
      const bytes = randomBytes(300_000);
      const odd = [
        'with space',
        'quote"',
        "tick'",
        'ünïcödé/文件',
        '-dash',
        '$HOME;`id`',
        '*?[',
        ...(client.can.has('control-characters') ? ['tab\there', 'line\nbreak'] : []),
      ];
      await commit(dir, {
        bin: bytes,
        empty: '',
        target: '../../etc/passwd',
        ...Object.fromEntries(odd.map((name) => [name, name])),
      });
      await git(dir, 'update-index', '--chmod=+x', 'bin');
      const link = await git(dir, 'hash-object', '-w', 'target');
      await git(dir, 'update-index', '--add', '--cacheinfo', `120000,${link},link`);
      await git(dir, 'commit', '--quiet', '-m', 'modes');
      await pushed(client, hosted, dir, 'refs/heads/main:refs/heads/main');
      const copy = cloneDir();
      await client.clone(hosted.url, copy);
      expect(await git(copy, 'ls-tree', '-r', '-z', 'HEAD')).toBe(await git(dir, 'ls-tree', '-r', '-z', 'HEAD'));
      expect(readFileSync(join(copy, 'bin')).equals(bytes)).toBe(true);
      for (const name of odd) expect(readFileSync(join(copy, name), 'utf8')).toBe(name);
    },
  },
  {
    name: 'a fetch brings what another has pushed, and a second one nothing',
    needs: [],
    play: async (client, hosted) => {
      const dir = await shared(client, hosted);
      const copy = cloneDir();
      await client.clone(hosted.url, copy);
      for (let n = 0; n < 30; n++) await commit(dir, { file: `${n}` });
      await pushed(client, hosted, dir, 'refs/heads/main:refs/heads/main');
      for (let n = 0; n < 2; n++) {
        await client.fetch(copy, hosted.url);
        expect(await head(copy, 'refs/remotes/origin/main')).toBe(await head(dir));
      }
    },
  },
  {
    name: 'a fetch with many commits of its own finds what both have (gzipped negotiation)',
    needs: [],
    play: async (client, hosted) => {
      const dir = await shared(client, hosted);
      const copy = cloneDir();
      await client.clone(hosted.url, copy);
      const commits = Array.from(
        { length: 600 },
        (_, n) => `commit refs/heads/own${n % 60}\ncommitter A <a@b> ${1_700_000_000 + n} +0000\ndata 2\n${n % 10}\n`,
      );
      const fed = Bun.spawn(['git', '-C', copy, 'fast-import', '--quiet'], { stdin: Buffer.from(commits.join('\n')) });
      expect(await fed.exited).toBe(0);
      await commit(dir, { theirs: '1' });
      await pushed(client, hosted, dir, 'refs/heads/main:refs/heads/main');
      await client.fetch(copy, hosted.url);
      expect(await head(copy, 'refs/remotes/origin/main')).toBe(await head(dir));
    },
  },
  {
    name: 'light and annotated tags are pushed and cloned',
    needs: [],
    play: async (client, hosted) => {
      const dir = await shared(client, hosted);
      await git(dir, 'tag', 'light');
      await git(dir, 'tag', '-a', 'v1.0', '-m', 'one');
      await pushed(client, hosted, dir, 'refs/tags/light:refs/tags/light', 'refs/tags/v1.0:refs/tags/v1.0');
      const copy = cloneDir();
      await client.clone(hosted.url, copy);
      expect(await head(copy, 'refs/tags/v1.0')).toBe(await head(dir, 'refs/tags/v1.0'));
      expect(await git(copy, 'cat-file', '-t', 'v1.0')).toBe('tag');
      expect(await head(copy, 'refs/tags/light')).toBe(await head(dir));
    },
  },
  {
    name: 'history is rewritten by force only',
    needs: ['force'],
    play: async (client, hosted) => {
      const dir = await shared(client, hosted);
      const before = await hosted.refs();
      await git(dir, 'commit', '--quiet', '--amend', '-m', 'another');
      expect((await client.push(dir, hosted.url, ['refs/heads/main:refs/heads/main'])).ok).toBe(false);
      expect(await hosted.refs()).toEqual(before);
      const forced = await client.push(dir, hosted.url, ['refs/heads/main:refs/heads/main'], { force: true });
      expect(forced.ok).toBe(true);
      expect(await hosted.refs()).toEqual([`${await head(dir)} refs/heads/main`]);
    },
  },
  {
    name: 'a branch and a tag are deleted',
    needs: [],
    play: async (client, hosted) => {
      const dir = await shared(client, hosted);
      await pushed(client, hosted, dir, 'refs/heads/main:refs/heads/gone', 'refs/heads/main:refs/tags/gone');
      expect((await hosted.refs()).length).toBe(3);
      await pushed(client, hosted, dir, ':refs/heads/gone', ':refs/tags/gone');
      expect(await hosted.refs()).toEqual([`${await head(dir)} refs/heads/main`]);
    },
  },
  {
    name: 'the default branch is not deleted',
    needs: [],
    play: async (client, hosted) => {
      const dir = await shared(client, hosted);
      const { ok, text } = await client.push(dir, hosted.url, [':refs/heads/main']);
      expect(ok).toBe(false);
      expect(text).toContain('deletion of the current branch prohibited');
      expect((await hosted.refs()).length).toBe(1);
    },
  },
  {
    name: 'several hundred branches at once',
    needs: [],
    play: async (client, hosted) => {
      const dir = await newWork();
      const team = Array.from({ length: 400 }, (_, n) => `refs/heads/team/branch-${String(n).padStart(3, '0')}`);
      const names = ['refs/heads/main', ...team];
      await pushed(client, hosted, dir, ...names.map((name) => `refs/heads/main:${name}`));
      expect((await hosted.refs()).map((ref) => ref.split(' ')[1])).toEqual(names);
      const copy = join(tempDir(), 'bare');
      await git(tempDir(), 'init', '--quiet', '--bare', copy);
      await client.fetch(copy, hosted.url);
      const branches = await git(copy, 'for-each-ref', 'refs/remotes/origin/main', 'refs/remotes/origin/team');
      expect(branches.split('\n').length).toBe(401);
    },
  },
  {
    name: 'names of refs with every odd character that is legal',
    needs: [],
    play: async (client, hosted) => {
      const dir = await newWork();
      const names = [
        'feature/a.b',
        'ünï',
        '文字',
        'quo\'te"',
        '$(id)',
        '`id`',
        ';|&',
        '%2e%2e',
        '{a}',
        '-x',
        '#1',
        '!',
        'a@b',
        '<b>',
        '+',
        ',=',
      ];
      const refs = names.map((name) => `refs/heads/odd/${name}`);
      const listed = async (): Promise<string[]> => (await hosted.refs()).map((ref) => ref.slice(41)).sort();
      // The default branch, which git refuses to delete.
      await pushed(client, hosted, dir, 'refs/heads/main:refs/heads/main');
      await pushed(client, hosted, dir, ...refs.map((ref) => `refs/heads/main:${ref}`));
      expect(await listed()).toEqual(['refs/heads/main', ...refs].sort());
      await pushed(client, hosted, dir, ...refs.map((ref) => `:${ref}`));
      expect(await listed()).toEqual(['refs/heads/main']);
    },
  },
  {
    name: 'a large push that is sent in pieces',
    needs: [],
    play: async (client, hosted) => {
      const dir = await newWork();
      const bytes = randomBytes(24 * 1024 * 1024);
      await commit(dir, { large: bytes });
      await pushed(client, hosted, dir, 'refs/heads/main:refs/heads/main');
      const copy = cloneDir();
      await client.clone(hosted.url, copy);
      expect(readFileSync(join(copy, 'large')).equals(bytes)).toBe(true);
    },
  },
  {
    name: 'a shallow clone, pushed from, then made whole by those who can',
    needs: ['shallow'],
    play: async (client, hosted) => {
      const dir = await shared(client, hosted);
      for (let n = 0; n < 5; n++) await commit(dir, { file: `${n}` });
      await pushed(client, hosted, dir, 'refs/heads/main:refs/heads/main');
      const copy = cloneDir();
      await client.clone(hosted.url, copy, { depth: 1 });
      expect(await git(copy, 'rev-list', '--count', 'HEAD')).toBe('1');
      const id = await commit(copy, { mine: '1' });
      await pushed(client, hosted, copy, 'HEAD:refs/heads/from-shallow');
      expect(await hosted.refs()).toContain(`${id} refs/heads/from-shallow`);
      if (!client.can.has('unshallow')) return;
      await client.fetch(copy, hosted.url, { unshallow: true });
      expect(await git(copy, 'rev-list', '--count', 'refs/remotes/origin/main')).toBe('6');
    },
  },
  {
    name: 'a partial clone, which gets its files when they are looked at',
    needs: ['partial'],
    play: async (client, hosted) => {
      const dir = await shared(client, hosted);
      for (let n = 0; n < 5; n++) await commit(dir, { file: `${n}`.repeat(1000) });
      await pushed(client, hosted, dir, 'refs/heads/main:refs/heads/main');
      for (const protocol of [2, 0] as const) {
        const copy = cloneDir();
        await client.clone(hosted.url, copy, { filter: 'blob:none', protocol });
        const missing = await git(copy, 'rev-list', '--objects', '--all', '--missing=print');
        expect(missing).toContain('\n?');
        expect(await git(copy, 'show', 'HEAD~2:file')).toBe('2'.repeat(1000));
      }
    },
  },
  {
    name: 'push options reach the server',
    needs: ['push-options'],
    play: async (client, hosted) => {
      const dir = await newWork();
      const options = ['no-wait', 'with=ünï & spaces'];
      expect((await client.push(dir, hosted.url, ['refs/heads/main'], { options })).ok).toBe(true);
      if (hosted.lastPush !== undefined) expect(hosted.lastPush()?.options).toEqual(options);
    },
  },
  {
    name: 'an atomic push does all or nothing',
    needs: ['atomic'],
    play: async (client, hosted) => {
      const dir = await shared(client, hosted);
      const id = await commit(dir, { a: '1' });
      const refspecs = ['refs/heads/main:refs/heads/new', ':refs/heads/main'];
      expect((await client.push(dir, hosted.url, refspecs, { atomic: true })).ok).toBe(false);
      expect((await hosted.refs()).map((ref) => ref.slice(41))).toEqual(['refs/heads/main']);
      await client.push(dir, hosted.url, ['refs/heads/main:refs/heads/new', 'refs/heads/main'], { atomic: true });
      expect(await hosted.refs()).toEqual([`${id} refs/heads/main`, `${id} refs/heads/new`]);
    },
  },
  ...([0, 1] as const).map((protocol) => ({
    name: `clone, fetch and push with protocol v${protocol}`,
    needs: [`v${protocol}`] as const,
    play: async (client: GitClient, hosted: Hosted) => {
      const dir = await newWork();
      expect((await client.push(dir, hosted.url, ['refs/heads/main'], { protocol })).ok).toBe(true);
      const copy = cloneDir();
      await client.clone(hosted.url, copy, { protocol });
      await commit(dir, { more: '1' });
      expect((await client.push(dir, hosted.url, ['refs/heads/main'], { protocol })).ok).toBe(true);
      await client.fetch(copy, hosted.url, { protocol });
      expect(await head(copy, 'refs/remotes/origin/main')).toBe(await head(dir));
    },
  })),
  {
    name: 'a wrong token is refused, and nothing is told of what is there',
    needs: [],
    play: async (client, hosted) => {
      const dir = await newWork();
      const url = hosted.url.replace(/:[^:@/]+@/, ':wrong@');
      expect((await client.push(dir, url, ['refs/heads/main:refs/heads/main'])).ok).toBe(false);
      const cloned = await client.clone(url, cloneDir()).then(
        () => 'cloned',
        () => 'refused',
      );
      expect(cloned).toBe('refused');
      expect(await hosted.refs()).toEqual([]);
    },
  },
];
