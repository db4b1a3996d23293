import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { commit, git, newWork, tempDir, tryGit } from '#test/support/git-client.ts';
import { urlWith } from './kit.ts';

const EXECUTABLE = join(import.meta.dir, '../../../dist/berth');

let berth: Berth;
let home: string;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
  home = join(berth.dataDir, 'home');
  mkdirSync(home);
}, 60_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

interface Outcome {
  code: number;
  out: string;
  error: string;
}

interface Spawn {
  stdin?: string;
  /** In place of what `berth login` has stored. */
  env?: Record<string, string>;
}

/** `berth …` as a user runs it who has logged in. */
const run = async (args: string[], { stdin = '', env = {} }: Spawn = {}): Promise<Outcome> => {
  const child = Bun.spawn([EXECUTABLE, ...args], {
    stdin: new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env },
  });
  const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, error };
};

// oxlint-disable-next-line typescript/no-explicit-any -- replies of many shapes
const shop = async (...args: string[]): Promise<any> => {
  const { code, out, error } = await run([...args, '--project', 'shop', '--json']);
  if (code !== 0) throw new Error(`berth ${args.join(' ')}: ${code} ${out} ${error}`);
  return JSON.parse(out.trim().split('\n').at(-1) ?? '');
};

beforeAll(async () => {
  const login = await run(['login', berth.url, '--token-stdin'], { stdin: `${berth.token}\n` });
  expect(login).toMatchObject({ code: 0 });
}, 30_000);

test('berth repos takes a repository from its first day to its last', async () => {
  const made = await shop('repos', 'create', 'web', '--deploy', 'web');
  expect(made).toMatchObject({ name: 'web', deploy_service: 'web', created: true, empty: true });
  expect(made.clone_url).toBe(`${berth.url}/git/shop/web.git`);
  expect(await shop('repos', 'create', 'web')).toMatchObject({ created: false });
  const linked = await shop('repos', 'link', 'web', '--branch', 'release', '--root', 'app', '--preview');
  expect(linked).toMatchObject({ deploy_branch: 'release', root: 'app', preview: true });
  expect((await shop('repos', 'ls')).repos).toMatchObject([{ name: 'web', deploy_branch: 'release' }]);
  const listed = await run(['repos', 'ls', '--project', 'shop', '--no-json']);
  expect(listed.out).toContain('release → web (app) + previews');
  expect(await shop('repos', 'link', 'web', '--off')).toMatchObject({ deploy_service: null });
  const unsure = await run(['repos', 'delete', 'web', '--project', 'shop']);
  expect(unsure.code).not.toBe(0);
  expect((await shop('repos', 'ls')).repos).toHaveLength(1);
  expect(await shop('repos', 'delete', 'web', '--yes')).toEqual({ deleted: true });
  expect((await shop('repos', 'ls')).repos).toEqual([]);
});

test('what is in a repository is looked at without a clone: refs, changes, comparisons, README, archive', async () => {
  await shop('repos', 'create', 'looked');
  const files = { 'README.md': '# Looked at\n', 'src/main.ts': 'one\n' };
  for (const [path, text] of Object.entries(files)) await Bun.write(join(home, 'looked', path), text);
  const at = (args: string[]) => shop('repos', ...args);
  const inFolder = async (...args: string[]) => {
    const child = Bun.spawn([EXECUTABLE, 'repos', 'commit', 'looked', '-p', 'shop', ...args], {
      cwd: join(home, 'looked'),
      env: { PATH: process.env['PATH'] ?? '', HOME: home },
      stdout: 'pipe',
    });
    expect(await child.exited).toBe(0);
    return JSON.parse(await new Response(child.stdout).text());
  };
  await inFolder('-m', 'Begin', 'README.md', 'src/main.ts');
  await Bun.write(join(home, 'looked/src/main.ts'), 'two\n');
  const second = await inFolder('-m', 'Change\tthe source', 'src/main.ts', '--branch', 'next');
  const id: string = second.commit.id;
  expect((await at(['refs', 'looked', '--all'])).refs).toMatchObject([
    { name: 'main', default: true },
    { name: 'next', commit: id },
  ]);
  expect(await at(['diff', 'looked', id.slice(0, 10)])).toMatchObject({
    commit: id,
    files: [{ path: 'src/main.ts', additions: 1, deletions: 1 }],
  });
  const shown = await run(['repos', 'diff', 'looked', 'next', '-p', 'shop', '--no-json']);
  expect(shown.out).toContain(`commit ${id}`);
  expect(shown.out).toContain('\n-one\n+two\n');
  expect(await at(['diff', 'looked', 'next', '--stat'])).toMatchObject({ id, files: [{ change: 'modified' }] });
  expect(await at(['compare', 'looked', 'main', 'next'])).toMatchObject({ ahead: 1, behind: 0, commits: [{ id }] });
  const compared = await run(['repos', 'compare', 'looked', 'main', 'next', '--stat', '-p', 'shop', '--no-json']);
  expect(compared.out).toMatch(
    /^1 commit ahead, 0 behind\n[0-9a-f]{10} .*Change.*\n\nmodified +\+1 −1 +src\/main.ts\n$/,
  );
  expect((await run(['repos', 'readme', 'looked', '-p', 'shop', '--no-json'])).out).toBe('# Looked at\n');
  const file = join(home, 'looked.tar.gz');
  const saved = await at(['archive', 'looked', file, '--ref', 'next']);
  expect(saved).toEqual({ file, bytes: Bun.file(file).size });
  const packed = Bun.spawnSync(['tar', '-xzOf', file, '--wildcards', '*/src/main.ts']);
  expect(packed.stdout.toString()).toBe('two\n');
  const again = await run(['repos', 'archive', 'looked', file, '-p', 'shop']);
  expect(JSON.parse(again.error)).toMatchObject({ code: 'LOCAL_ERROR', message: `${file} exists already` });
}, 30_000);

/** Command lines of everything that runs on the machine, taken again and again while `work` lasts. */
const commandLinesDuring = async (work: () => Promise<unknown>): Promise<string> => {
  let seen = '';
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      seen += Bun.spawnSync(['ps', '-eo', 'args']).stdout.toString();
      await Bun.sleep(2);
    }
  })();
  await work();
  over.abort();
  await watching;
  return seen;
};

describe('berth clone', () => {
  const asked = (dir: string, args: string[]) =>
    tryGit(dir, args, { env: { HOME: home, GIT_CONFIG_GLOBAL: join(home, '.gitconfig') } });

  test('needs no token, stores none, shows none; pull and push go on by themselves', async () => {
    const repo = await shop('repos', 'create', 'site', '--deploy', 'site');
    const seed = await newWork();
    await git(seed, 'push', '--quiet', urlWith(repo.clone_url, berth.token), 'main');
    const dir = join(tempDir(), 'with space', 'site');
    const lines = await commandLinesDuring(async () => {
      expect(await shop('clone', 'site', dir)).toMatchObject({ directory: dir });
      await commit(dir, helloApp('from the clone'));
      const pushed = await asked(dir, ['push']);
      expect(pushed.text).toContain('live at ');
      expect(pushed.code).toBe(0);
      expect((await asked(dir, ['pull'])).text).toContain('Already up to date');
    });
    expect(await berth.appText('shop', 'site')).toBe('from the clone');
    expect(lines).toContain('git-credential');
    expect(lines).not.toContain(berth.token);
    const config = readFileSync(join(dir, '.git/config'), 'utf8');
    expect(config).toContain(`url = ${repo.clone_url}`);
    expect(config).not.toContain(berth.token);
    const stored = Bun.spawnSync(['grep', '-rlF', berth.token, dir]).stdout.toString();
    expect(stored).toBe('');
  }, 120_000);

  test('says what to do when there is no such repository', async () => {
    const { code, error } = await run(['clone', 'nothing', '--project', 'shop', '--no-json']);
    expect(code).not.toBe(0);
    expect(error).toContain('no repository named "nothing"');
    expect(error).toContain('list them with');
  });
});

describe('berth git-credential', () => {
  const get = (lines: string, action = 'get') => run(['git-credential', action], { stdin: lines });
  const host = (): string => new URL(berth.url).host;

  test('answers for its own server', async () => {
    const { code, out } = await get(`protocol=http\nhost=${host()}\npath=git/shop/site.git\n\n`);
    expect({ code, out }).toEqual({ code: 0, out: `username=berth\npassword=${berth.token}\n` });
  });

  test.each([
    ['another host', 'protocol=http\nhost=evil.example.com\n\n'],
    ['another port', 'protocol=http\nhost=127.0.0.1:1\n\n'],
    ['another protocol', 'protocol=https\nhost=HOST\n\n'],
    ['a host that only begins the same', 'protocol=http\nhost=HOST.evil.example.com\n\n'],
    ['no host', 'protocol=http\n\n'],
    ['two hosts', 'protocol=http\nhost=HOST\nhost=evil.example.com\n\n'],
    ['nothing', ''],
  ])('is silent for %s', async (_, asked) => {
    const { code, out } = await get(asked.replaceAll('HOST', host()));
    expect({ code, out }).toEqual({ code: 0, out: '' });
  });

  test.each(['store', 'erase'])('%s changes nothing, and says nothing', async (action) => {
    const { code, out } = await get(`protocol=http\nhost=${host()}\nusername=a\npassword=b\n\n`, action);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect((await run(['repos', 'ls', '--project', 'shop'])).code).toBe(0);
  });
});
