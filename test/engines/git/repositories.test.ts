import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createGit } from '#engines/git/index';
import { needsRepack } from '#engines/git/maintain';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { commit, git, newWork, tempDir } from '#test/support/git-client.ts';

const engineAt = (dir: string) =>
  createGit({ dir, clock: systemClock, log: createLog('error', () => undefined, Date.now) });
const kindOf = (thrown: unknown): unknown => (thrown instanceof Error && 'kind' in thrown ? thrown.kind : thrown);
const never = new AbortController().signal;

/** An engine with one repository, and a working copy that pushes to it by path. */
const furnished = async () => {
  const dir = join(tempDir(), 'repos');
  const engine = engineAt(dir);
  await engine.create('repo_1', 'main');
  const work = await newWork();
  const path = join(dir, 'repo_1.git');
  const push = (...args: string[]) => git(work, '-c', 'push.default=current', 'push', '--quiet', path, ...args);
  return { dir, engine, work, path, push };
};

test('git tells its version', async () => {
  expect(await engineAt(tempDir()).version()).toMatch(/^\d+\.\d+\.\d+/);
});

describe('a repository', () => {
  test('is bare, has the default branch that was asked for, and no hooks', async () => {
    const { engine, path, dir } = await furnished();
    expect(readFileSync(join(path, 'HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
    expect(await git(path, 'rev-parse', '--is-bare-repository', '--show-object-format')).toBe('true\nsha1');
    expect(existsSync(join(path, 'hooks'))).toBe(false);
    expect(await engine.list()).toEqual(['repo_1']);
    expect(readdirSync(dir)).toEqual(['repo_1.git']);
    await engine.setDefaultBranch('repo_1', 'feature/ünï');
    expect(readFileSync(join(path, 'HEAD'), 'utf8')).toBe('ref: refs/heads/feature/ünï\n');
  });

  test('is made once, and never over another', async () => {
    const { engine } = await furnished();
    expect(await engine.create('repo_1', 'main').catch(kindOf)).toBe('CONFLICT');
  });

  test.each([
    '',
    '-x',
    '--upload-pack=x',
    'a..b',
    'a b',
    'x.lock',
    '.x',
    'a\nb',
    'a\0b',
    '@',
    'HEAD',
    '/x',
    'x/',
    'a//b',
  ])('has no default branch %p', async (branch) => {
    const { engine } = await furnished();
    expect(await engine.create('repo_2', branch).catch(kindOf)).toBe('INVALID_INPUT');
    expect(await engine.setDefaultBranch('repo_1', branch).catch(kindOf)).toBe('INVALID_INPUT');
    expect(await engine.list()).toEqual(['repo_1']);
  });

  test.each(['', '.', '..', '../x', '-x', 'a/b', 'a\0', '.new-x', 'ü'])('has no id %p', async (id) => {
    const { engine } = await furnished();
    expect(await engine.create(id, 'main').catch(kindOf)).toBe('NOT_FOUND');
    expect(await engine.remove(id).catch(kindOf)).toBe('NOT_FOUND');
    expect(await engine.sizeBytes(id).catch(kindOf)).toBe('NOT_FOUND');
  });

  test('is removed with all it has, twice without harm, and after a removal that broke off', async () => {
    const { engine, dir } = await furnished();
    await engine.remove('repo_1');
    await engine.remove('repo_1');
    expect(readdirSync(dir)).toEqual([]);
    for (const rest of ['.gone-repo_1.git', '.new-repo_1.git'])
      mkdirSync(join(dir, rest, 'objects'), { recursive: true });
    expect(await engine.list()).toEqual([]);
    await engine.create('repo_1', 'main');
    await engine.remove('repo_1');
    expect(readdirSync(dir)).toEqual([]);
  });

  test('has a size that grows with what is pushed', async () => {
    const { engine, work, push } = await furnished();
    const before = await engine.sizeBytes('repo_1');
    await commit(work, { large: crypto.getRandomValues(new Uint8Array(60_000)) });
    await push('main');
    const grown = (await engine.sizeBytes('repo_1')) - before;
    expect(grown).toBeGreaterThan(60_000);
    expect(grown).toBeLessThan(200_000);
  });

  test('loses a ref, and says so when there is none', async () => {
    const { engine, path, push } = await furnished();
    await push('main', 'main:refs/heads/odd/$(x)', 'main:refs/tags/v1');
    await engine.deleteRef('repo_1', 'refs/heads/odd/$(x)');
    await engine.deleteRef('repo_1', 'refs/tags/v1');
    expect(await git(path, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(await engine.deleteRef('repo_1', 'refs/tags/v1').catch(kindOf)).toBe('NOT_FOUND');
    expect(await engine.deleteRef('repo_1', 'main').catch(kindOf)).toBe('NOT_FOUND');
    expect(await engine.deleteRef('repo_1', '../x').catch(kindOf)).toBe('INVALID_INPUT');
  });
});

describe('maintenance', () => {
  test('packs when there is much to pack, and loses nothing', async () => {
    const { engine, work, path, push } = await furnished();
    await push('main');
    await engine.maintain('repo_1', never);
    expect(existsSync(join(path, 'packed-refs'))).toBe(true);
    for (let n = 0; n < 32; n++) {
      await commit(work, { file: `${n}` });
      await push('main', `main:refs/heads/b${n}`);
      // Each push of several hundred objects is a pack; here git is made to make them.
      await git(path, 'repack', '--quiet', '-d');
    }
    const refs = await git(path, 'for-each-ref');
    const packs = () => readdirSync(join(path, 'objects/pack')).filter((name) => name.endsWith('.pack')).length;
    expect(packs()).toBeGreaterThan(30);
    await engine.maintain('repo_1', never);
    expect(packs()).toBe(1);
    expect(readdirSync(join(path, 'objects/pack')).some((name) => name.endsWith('.bitmap'))).toBe(true);
    expect(existsSync(join(path, 'objects/info/commit-graph'))).toBe(true);
    expect(await git(path, 'for-each-ref')).toBe(refs);
    expect(await git(path, 'fsck', '--strict', '--no-progress', '--no-dangling')).toBe('');
  });

  test('keeps what nothing refers to while it is young', async () => {
    const { engine, path, work, push } = await furnished();
    await commit(work, { large: crypto.getRandomValues(new Uint8Array(9_000_000)) });
    await push('main');
    await git(path, 'repack', '--quiet', '-d');
    const id = await git(path, 'commit-tree', '-m', 'loose', 'main^{tree}');
    await engine.maintain('repo_1', never);
    expect(readdirSync(join(path, 'objects/pack')).some((name) => name.endsWith('.bitmap'))).toBe(true);
    expect(await git(path, 'cat-file', '-t', id)).toBe('commit');
  });

  test('is not repeated when it could not bring a repository into a better shape', async () => {
    const { engine, path, work, push } = await furnished();
    await commit(work, { large: crypto.getRandomValues(new Uint8Array(9_000_000)) });
    await push('main');
    await git(path, 'repack', '--quiet', '-d');
    // Without refs there is nothing to make a bitmap of.
    await git(path, 'update-ref', '-d', 'refs/heads/main');
    await engine.maintain('repo_1', never);
    const before = await stat(join(path, 'objects/pack'));
    await engine.maintain('repo_1', never);
    expect((await stat(join(path, 'objects/pack'))).mtimeMs).toBe(before.mtimeMs);
    await push('main');
    await git(path, 'repack', '--quiet', '-a', '-d');
    await engine.maintain('repo_1', never);
    expect(readdirSync(join(path, 'objects/pack')).some((name) => name.endsWith('.bitmap'))).toBe(true);
  });

  test('stops when it is told to', async () => {
    const { engine } = await furnished();
    const stopped = AbortSignal.abort(new Error('stopping'));
    expect(await engine.maintain('repo_1', stopped).catch(String)).toBe('Error: stopping');
  });

  const small = { packs: 3, packBytes: 1000, looseObjects: 500, bitmap: false };
  test.each([
    ['little', small, false],
    ['many packs', { ...small, packs: 31 }, true],
    ['many loose objects', { ...small, looseObjects: 2304 }, true],
    ['a large repository without a bitmap', { ...small, packBytes: 9e6 }, true],
    ['a large repository with one', { ...small, packBytes: 9e6, bitmap: true }, false],
  ])('of %s', (_name, shape, expected) => {
    expect(needsRepack(shape)).toBe(expected);
  });
});
