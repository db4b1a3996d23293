import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importInto, rawGit, rawText, type ImportStream } from '#test/support/git.ts';
import { addProject, addToken, call, createRig, request, type Reply, type Rig } from '../support/rig.ts';

const REPO = '/v1/projects/shop/repos/web';

interface Place {
  rig: Rig;
  dir: string;
  get: (path: string, token?: string) => Promise<Reply>;
  commit: (body: Record<string, unknown>, query?: string) => Promise<Reply>;
}

const setUp = async (build?: (stream: ImportStream) => void): Promise<Place & { ids: string[] }> => {
  const rig = createRig();
  addProject(rig, 'shop');
  await call(rig, 'POST /v1/projects/shop/repos', { body: { name: 'web' } });
  const dir = join(rig.dataDir, 'repos', `${rig.repoStore.get('shop', 'web')?.id ?? 'none'}.git`);
  const ids = build === undefined ? [] : importInto(dir, build);
  return {
    rig,
    dir,
    ids,
    get: (path, token) => call(rig, `GET ${REPO}${path}`, token === undefined ? {} : { token }),
    commit: (body, query = '') => call(rig, `POST ${REPO}/commits${query}`, { body: { message: 'm', ...body } }),
  };
};

/** All pages of a list. */
const pages = async (get: Place['get'], path: string, plural: string): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body } = await get(`${path}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
    expect(status).toBe(200);
    const reply = body as Record<string, unknown>;
    items.push(...(reply[plural] as Record<string, unknown>[]));
    cursor = reply['next_cursor'] as string | null;
  }
  return items;
};

const scratch: string[] = [];
afterEach(() => {
  for (const dir of scratch.splice(0)) rmSync(dir, { recursive: true });
});

describe('reading', () => {
  test('refs are listed page by page, branches and tags apart', async () => {
    const { get, dir, ids } = await setUp((stream) => stream.commit({}));
    for (const ref of ['refs/heads/feature/a"b', 'refs/tags/v1', 'refs/notes/x'])
      rawGit(dir, ['update-ref', ref, ids[1] ?? '']);
    const all = await pages(get, '/refs?limit=1', 'refs');
    expect(all.map(({ name, ref, kind, default: isDefault, commit }) => [name, ref, kind, isDefault, commit])).toEqual([
      ['feature/a"b', 'refs/heads/feature/a"b', 'branch', false, ids[1]],
      ['main', 'refs/heads/main', 'branch', true, ids[1]],
      ['refs/notes/x', 'refs/notes/x', 'other', false, ids[1]],
      ['v1', 'refs/tags/v1', 'tag', false, ids[1]],
    ]);
    expect((await pages(get, '/refs?kind=tag', 'refs')).map(({ name }) => name)).toEqual(['v1']);
  });

  test('commits are paged as they were when the first page was read', async () => {
    const { get, dir, ids } = await setUp((stream) => {
      for (let i = 0; i < 5; i++)
        stream.commit({ files: { [i % 2 === 0 ? 'even' : 'odd']: String(i) }, message: `m${i}\n\nbody` });
    });
    const first = await get('/commits?limit=2');
    expect(first.body).toMatchObject({ commits: [{ subject: 'm4', body: 'body' }, { subject: 'm3' }] });
    rawGit(dir, ['update-ref', 'refs/heads/main', ids[1] ?? '']);
    const { next_cursor: cursor } = first.body as { next_cursor: string };
    const second = await get(`/commits?limit=5&cursor=${cursor}`);
    expect(second.body).toMatchObject({
      commits: [{ subject: 'm2' }, { subject: 'm1' }, { subject: 'm0' }],
      next_cursor: null,
    });
    const odd = await get(`/commits?path=odd&files=true&ref=${ids[5]}`);
    expect(odd.body).toMatchObject({
      commits: [{ subject: 'm3', files: [{ path: 'odd', change: 'modified' }] }, { subject: 'm1' }],
    });
    expect((await get('/commits?cursor=bm9wZQ')).status).toBe(400);
  });

  test('a commit, its diff and a comparison', async () => {
    const { get, ids } = await setUp((stream) => {
      stream.commit({ files: { a: '1\n' } });
      stream.commit({ files: { a: '2\n' } });
      stream.commit({ branch: 'dev/x', from: 1, files: { b: '1\n' } });
    });
    expect((await get(`/commits/${ids[2]?.slice(0, 8)}`)).body).toMatchObject({
      id: ids[2],
      files: [{ path: 'a', additions: 1, deletions: 1 }],
    });
    expect((await get('/commits/dev%2Fx')).body).toMatchObject({ id: ids[3] });
    expect((await get('/commits/main/diff')).body).toMatchObject({
      commit: ids[2],
      truncated: false,
      patch: expect.stringContaining('-1\n+2\n'),
    });
    expect((await get('/commits/main/diff?max_bytes=10')).body).toMatchObject({ truncated: true, patch: '' });
    expect((await get('/compare?base=main&head=dev/x')).body).toMatchObject({
      base: ids[2],
      head: ids[3],
      merge_base: ids[1],
      ahead: 1,
      behind: 1,
      commits: [{ id: ids[3] }],
      files: [{ path: 'b', change: 'added' }],
    });
  });

  test('a tree is listed by folder or as a whole, page by page', async () => {
    const { get, ids } = await setUp((stream) => {
      stream.commit({ files: { 'src/a:b=c': 'x', 'src/new\nline': 'xx', run: { mode: '100755', content: '#!' } } });
      stream.commit({ raw: true, files: { 'caf\xe9': 'latin' } });
    });
    const all = await pages(get, '/tree?recursive=true&limit=1', 'entries');
    expect(all.map(({ path, size }) => [path, size])).toEqual([
      ['caf\ufffd', 5],
      ['run', 2],
      ['src/a:b=c', 1],
      ['src/new\nline', 2],
    ]);
    expect((await get('/tree?path=src/')).body).toMatchObject({
      commit: ids[2],
      path: 'src',
      entries: [{ kind: 'file' }, { kind: 'file' }],
      next_cursor: null,
    });
    expect((await get('/tree?path=run')).status).toBe(400);
    expect((await get('/tree?path=none')).status).toBe(404);
  });

  test('a file is text or base64; in ranges no character is cut', async () => {
    const text = 'a€'.repeat(1000);
    const { get } = await setUp((stream) =>
      stream.commit({
        files: {
          'ä b.txt': text,
          bin: Buffer.from([0, 1, 255]),
          latin: Buffer.from('caf\xe9', 'latin1'),
          empty: '',
          link: { mode: '120000', content: '/etc/passwd' },
        },
      }),
    );
    expect((await get('/file?path=%C3%A4%20b.txt')).body).toMatchObject({
      content: text,
      encoding: 'utf-8',
      size: 4000,
      offset: 0,
      length: 4000,
      next_offset: null,
      binary: false,
    });
    let read = '';
    for (let offset: number | null = 0; offset !== null;) {
      const { body } = await get(`/file?path=%C3%A4%20b.txt&offset=${offset}&length=7`);
      const part = body as { content: string; encoding: string; next_offset: number | null };
      expect(part.encoding).toBe('utf-8');
      read += part.content;
      offset = part.next_offset;
    }
    expect(read).toBe(text);
    // Where not even one character fits, bytes are shown, so that reading goes on.
    expect((await get('/file?path=%C3%A4%20b.txt&offset=1&length=1')).body).toMatchObject({
      encoding: 'base64',
      length: 1,
      next_offset: 2,
    });
    expect((await get('/file?path=bin')).body).toMatchObject({ content: 'AAH/', encoding: 'base64', binary: true });
    expect((await get('/file?path=latin')).body).toMatchObject({ encoding: 'base64', binary: false });
    expect((await get('/file?path=empty')).body).toMatchObject({
      content: '',
      encoding: 'utf-8',
      size: 0,
      next_offset: null,
    });
    expect((await get('/file?path=link')).body).toMatchObject({ content: '/etc/passwd', kind: 'symlink' });
    for (const path of ['../x', '%2Fetc%2Fpasswd', 'a%2F..%2Fb', ''])
      expect((await get(`/file?path=${path}`)).status).toBe(400);
    expect((await get('/file?path=link%2Fx')).status).toBe(404);
  });

  test('a file beyond the cap is refused with the way to read it, never cut in silence', async () => {
    const { get } = await setUp((stream) => stream.commit({ files: { big: 'x'.repeat(1024 ** 2 + 1) } }));
    const whole = await get('/file?path=big');
    expect([whole.status, whole.body]).toMatchObject([
      413,
      { code: 'INVALID_INPUT', hint: expect.stringContaining('offset') },
    ]);
    expect((await get('/file?path=big&offset=1048576')).body).toMatchObject({ content: 'x', next_offset: null });
    expect((await get('/file?path=big&length=1048577')).body).toMatchObject({ length: 1_048_577 });
    expect((await get('/file?path=big&length=9999999')).status).toBe(400);
  });

  test('the README is found under its usual names', async () => {
    const { get } = await setUp((stream) =>
      stream.commit({
        files: { 'README.txt': 'txt', 'readme.md': 'md', 'docs/Readme': 'plain', 'x/README.html': 'no' },
      }),
    );
    expect((await get('/readme')).body).toMatchObject({ path: 'readme.md', content: 'md' });
    expect((await get('/readme?path=docs/')).body).toMatchObject({ path: 'docs/Readme', content: 'plain' });
    expect((await get('/readme?path=x')).status).toBe(404);
  });

  test('the archive of a commit is a whole tar, for HEAD only its head', async () => {
    const { rig, ids } = await setUp((stream) => stream.commit({ files: { 'app/a b': 'content', top: 't' } }));
    const response = await request(rig, `GET ${REPO}/archive?path=app`);
    const name = `web-${ids[1]?.slice(0, 12)}`;
    expect(response.headers.get('content-type')).toBe('application/gzip');
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${name}.tar.gz"`);
    const dir = mkdtempSync(join(tmpdir(), 'berth-archive-'));
    scratch.push(dir);
    await Bun.write(join(dir, 'x.tgz'), await response.arrayBuffer());
    const unpacked = Bun.spawnSync(['tar', '-xvzf', 'x.tgz'], { cwd: dir });
    expect([unpacked.exitCode, await Bun.file(join(dir, name, 'a b')).text()]).toEqual([0, 'content']);
    const head = await request(rig, `HEAD ${REPO}/archive?format=tar`);
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await request(rig, `GET ${REPO}/archive?path=top`)).status).toBe(400);
    expect((await request(rig, `GET ${REPO}/archive?ref=none`)).status).toBe(404);
  });

  test('an empty repository says how to fill it; a foreign one does not exist', async () => {
    const { rig, get } = await setUp();
    expect((await get('/refs')).body).toEqual({ refs: [], next_cursor: null });
    for (const path of [
      '/commits',
      '/tree',
      '/file?path=a',
      '/readme',
      '/archive',
      '/commits/main',
      '/compare?base=main',
    ]) {
      const { status, body } = await get(path);
      expect([path, status, body]).toMatchObject([
        path,
        404,
        { code: 'NOT_FOUND', hint: expect.stringContaining('push') },
      ]);
    }
    addToken(rig, 'foreign', ['manage_repos'], ['other']);
    addToken(rig, 'reader', ['read']);
    expect((await get('/refs', 'foreign')).body).toMatchObject({ code: 'NOT_FOUND' });
    expect((await get('/refs', 'reader')).body).toMatchObject({ code: 'CAPABILITY_MISSING' });
    expect((await call(rig, 'GET /v1/projects/shop/repos/none/refs')).status).toBe(404);
  });

  test.each(['--all', '-x', 'main~1', ':/x', 'a..b', 'main^{tree}', '$(id)', '"; rm'])(
    'the ref %j is data, nothing more',
    async (ref) => {
      const { get, rig } = await setUp((stream) => stream.commit({ files: { a: '1' } }));
      const text = encodeURIComponent(ref);
      for (const path of [
        `/commits?ref=${text}`,
        `/tree?ref=${text}`,
        `/file?path=a&ref=${text}`,
        `/commits/${text}`,
        `/compare?base=${text}`,
        `/archive?ref=${text}`,
      ])
        expect([400, 404]).toContain((await get(path)).status);
      expect(rig.faults).toEqual([]);
    },
  );
});

describe('commitRepoFiles', () => {
  test('makes the first commit, with the caller as author, and tells what follows pushes', async () => {
    const { rig, dir, commit } = await setUp();
    const made = await commit({
      message: 'First',
      branch: 'trunk',
      files: [
        { path: 'a', content: 'hällo' },
        { path: 'b', content: 'AAH/', encoding: 'base64', executable: true },
      ],
    });
    const head = rawText(dir, ['rev-parse', 'trunk']);
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        branch: 'trunk',
        changed: true,
        before: null,
        commit: { id: head, subject: 'First', author: { name: 'admin' }, files: [{ path: 'a' }, { path: 'b' }] },
        deploys: [],
      },
    ]);
    expect(rawText(dir, ['ls-tree', '--format=%(objectmode) %(path)', 'trunk'])).toBe('100644 a\n100755 b');
    expect(rig.repoStore.get('shop', 'web')?.default_branch).toBe('trunk');
    expect(rig.pushed).toEqual([
      { updates: [{ ref: 'refs/heads/trunk', before: '0'.repeat(40), after: head, refused: null }], options: [] },
    ]);
  });

  test('writes, deletes, moves and makes executable on top of the default branch', async () => {
    const { rig, dir, ids, commit } = await setUp((stream) =>
      stream.commit({ files: { a: 'a', b: 'b', c: 'c', d: 'd' } }),
    );
    const made = await commit({
      expected_head: ids[1],
      deploy: false,
      files: [
        { path: 'a', content: 'A' },
        { path: 'b', delete: true },
        { path: 'x/c', move_from: 'c', content: 'C', executable: true },
        { path: 'd', executable: true },
        { path: 'e', content: '' },
      ],
    });
    expect(made.body).toMatchObject({ before: ids[1], changed: true });
    expect(rawText(dir, ['ls-tree', '-r', '--format=%(objectmode) %(path)', 'main']).split('\n')).toEqual([
      '100644 a',
      '100755 d',
      '100644 e',
      '100755 x/c',
    ]);
    expect(rig.pushed[0]?.options).toEqual(['skip-deploy']);
  });

  test('someone who was faster is a CONFLICT that says where the branch is', async () => {
    const { dir, ids, commit } = await setUp((stream) => stream.commit({ files: { a: 'a' } }));
    const files = [{ path: 'a', content: 'b' }];
    await commit({ files, expected_head: ids[1] });
    const late = await commit({ files: [{ path: 'a', content: 'c' }], expected_head: ids[1] });
    expect([late.status, late.body]).toMatchObject([
      409,
      { code: 'CONFLICT', message: expect.stringContaining(rawText(dir, ['rev-parse', 'main'])) },
    ]);
    expect((await commit({ files, expected_head: null })).status).toBe(409);
    expect((await commit({ files, expected_head: null, branch: 'new', from: ids[1] })).status).toBe(201);
    expect(rawText(dir, ['rev-parse', 'new^'])).toBe(ids[1] ?? '');
  });

  test('what changes nothing is no commit, and begins nothing', async () => {
    const { rig, ids, commit } = await setUp((stream) => stream.commit({ files: { a: 'a' } }));
    const same = await commit({ files: [{ path: 'a', content: 'a' }] });
    expect([same.status, same.body]).toMatchObject([
      200,
      { changed: false, before: ids[1], commit: { id: ids[1] }, deploys: [] },
    ]);
    const elsewhere = await commit({ branch: 'new', files: [{ path: 'a', content: 'a' }] });
    expect([elsewhere.status, elsewhere.body]).toMatchObject([
      200,
      { changed: false, before: null, commit: { id: ids[1] } },
    ]);
    expect(rig.pushed).toEqual([]);
  });

  test('a dry run shows the plan, or what would be refused', async () => {
    const { dir, ids, commit } = await setUp((stream) => stream.commit({ files: { a: 'a' } }));
    const planned = await commit(
      {
        files: [
          { path: 'b', move_from: 'a' },
          { path: 'c', content: 'c' },
        ],
      },
      '?dry_run=true',
    );
    expect([planned.status, planned.body]).toMatchObject([
      200,
      {
        dry_run: true,
        plan: {
          changes: [
            { action: 'move', name: 'b', move_from: 'a' },
            { action: 'write', name: 'c' },
          ],
        },
      },
    ]);
    expect((await commit({ files: [{ path: 'none', delete: true }] }, '?dry_run=true')).status).toBe(400);
    expect(
      (await commit({ files: [{ path: 'a', content: 'x' }], expected_head: 'a'.repeat(40) }, '?dry_run=true')).status,
    ).toBe(409);
    expect(rawText(dir, ['rev-parse', 'main'])).toBe(ids[1] ?? '');
  });

  test.each([
    [{ files: [] }, 'files'],
    [{ files: [{ path: 'a' }] }, 'body.files[0]'],
    [{ files: [{ path: 'a', delete: true, content: 'x' }] }, 'body.files[0]'],
    [{ files: [{ path: 'a', encoding: 'base64' }] }, 'body.files[0].encoding'],
    [{ files: [{ path: 'a', content: 'not base64!', encoding: 'base64' }] }, 'body.files[0].content'],
    [{ files: [{ path: 'a', content: '\ud800' }] }, 'body.files[0].content'],
    [{ files: [{ path: '../a', content: 'x' }] }, '../a'],
    [{ files: [{ path: '.git/hooks/post-receive', content: 'x' }] }, '.git/hooks'],
    [{ files: [{ path: 'a', move_from: '/etc/passwd' }] }, '/etc/passwd'],
    [{ files: [{ path: 'none', delete: true }] }, 'none'],
    [{ files: [{ path: 'a', content: 'x', mode: '120000' }] }, 'mode'],
    [{ files: [{ path: 'a', content: 'x' }], branch: 'a b' }, 'branch'],
    [{ files: [{ path: 'a', content: 'x' }], branch: '--force' }, 'branch'],
    [{ files: [{ path: 'a', content: 'x' }], message: ' ' }, 'message'],
    [{ files: [{ path: 'a', content: 'x' }], expected_head: 'main' }, 'expected_head'],
    [{ files: [{ path: 'a', content: 'x' }], author: 'x' }, 'author'],
  ])('refuses %j and names the field', async (body, field) => {
    const { rig, commit, dir, ids } = await setUp((stream) => stream.commit({ files: { a: 'a' } }));
    const { status, body: error } = await commit(body);
    expect([status, error]).toMatchObject([400, { code: 'INVALID_INPUT', message: expect.stringContaining(field) }]);
    expect(rawText(dir, ['rev-parse', 'main'])).toBe(ids[1] ?? '');
    expect(rig.faults).toEqual([]);
  });
});
