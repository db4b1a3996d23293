import { afterAll, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '#cli/version';
import { makeFolder } from '#test/modules/downloads/support.ts';
import { Home } from './support/cli.ts';

const CONTENT = Buffer.from('what runs there '.repeat(5000));

const home = new Home();
afterAll(() => home.remove());

let target: string;
let run: (from: string) => Promise<{ code: number; out: Record<string, unknown> | undefined; error: string }>;
let count = 0;

beforeEach(() => {
  const dataDir = home.path(`data-${(count += 1)}`);
  target = home.path(`handed-out-${count}`);
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'berth.toml'), `downloads_dir = "${target}"\n`);
  run = async (from) => {
    const { code, stdout, stderr } = await home.run(['server', 'downloads', from, '--data-dir', dataDir, '--json']);
    return { code, out: stdout === '' ? undefined : JSON.parse(stdout), error: stderr };
  };
});

const ALL = ['linux-amd64', 'linux-arm64', 'darwin-amd64', 'darwin-arm64'] as const;

const built = (version = VERSION): string => makeFolder(CONTENT, { version, platforms: ALL });

/** A web server with `folder` at /releases/, /dl/ of a server with the same, a redirect to it, and one page for all else. */
const publish = (folder: string) => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => {
      const { pathname, origin } = new URL(url);
      const [, place, name = ''] = /^\/(releases|moved|dl|pages\/dl|pages)\/([\w.-]+)$/.exec(pathname) ?? [];
      if (place === undefined) return new Response('not here', { status: 404 });
      if (place.startsWith('pages')) return new Response('<html>', { headers: { 'content-type': 'text/html' } });
      if (place === 'moved') return Response.redirect(`${origin}/releases/${name}`, 302);
      return existsSync(join(folder, name))
        ? new Response(Bun.file(join(folder, name)))
        : new Response('', { status: 404 });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) };
};

const holdsAll = (): void => {
  const names = ALL.flatMap((platform) => ['', '.gz', '.zst'].map((ending) => `berth-${platform}${ending}`));
  expect(readdirSync(target).sort()).toEqual([...names, 'manifest.json'].sort());
  for (const platform of ALL) expect(readFileSync(join(target, `berth-${platform}`)).equals(CONTENT)).toBe(true);
};

test('a folder takes the place of the clients of another version, files that nobody lists included', async () => {
  mkdirSync(target);
  writeFileSync(join(target, 'manifest.json'), readFileSync(join(built('0.0.1'), 'manifest.json')));
  writeFileSync(join(target, 'berth-plan9-amd64'), 'old');
  const { code, out } = await run(built());
  expect([code, out]).toEqual([
    0,
    { folder: target, version: VERSION, platforms: [...ALL], missing: [], changed: true },
  ]);
  holdsAll();
  expect(statSync(target).mode & 0o777).toBe(0o755);
  expect(statSync(join(target, 'berth-darwin-arm64')).mode & 0o777).toBe(0o755);
  expect(statSync(join(target, 'berth-darwin-arm64.gz')).mode & 0o777).toBe(0o644);
  expect(
    readdirSync(home.dir).filter((name) => name.startsWith('handed-out-') && /\.(new|former|lock)$/.test(name)),
  ).toEqual([]);
});

test('what is there already is left alone, and what is cut short is brought again', async () => {
  const folder = built();
  await run(folder);
  const before = statSync(join(target, 'manifest.json')).ino;
  expect((await run(folder)).out).toMatchObject({ changed: false });
  expect(statSync(join(target, 'manifest.json')).ino).toBe(before);
  writeFileSync(join(target, 'berth-linux-arm64'), 'cut');
  expect((await run(folder)).out).toMatchObject({ changed: true });
  holdsAll();
});

test.each(['/releases/', '/releases/berth-linux-amd64', '', '/dl/', '/moved/'])(
  'they come from an address: %p',
  async (path) => {
    await using place = publish(built());
    expect(await run(place.url + path)).toMatchObject({ code: 0, out: { changed: true, missing: [] } });
    holdsAll();
  },
);

test('a release without all platforms is taken, and says which are missing', async () => {
  const { code, out, error } = await run(
    makeFolder(CONTENT, { version: VERSION, platforms: ['darwin-arm64'], plain: true }),
  );
  expect([code, out?.['platforms']]).toEqual([0, ['darwin-arm64']]);
  expect(error).toContain('there is no client for linux-');
  expect(readdirSync(target).sort()).toEqual(['berth-darwin-arm64', 'manifest.json']);
});

test('whatever is refused leaves what was there', async () => {
  await run(built());
  const broken = built();
  writeFileSync(join(broken, 'berth-linux-arm64.zst'), 'x');
  writeFileSync(
    join(broken, 'manifest.json'),
    readFileSync(join(broken, 'manifest.json'), 'utf8').replace(/\n*$/, ' \n'),
  );
  writeFileSync(join(target, 'berth-linux-arm64'), 'so that it is brought again');
  await using place = publish(built('9.9.9'));
  for (const [from, message] of [
    [broken, 'its checksum differs'],
    [built('9.9.9'), 'has berth 9.9.9, and this server is'],
    [place.url, 'has berth 9.9.9, and this server is'],
    [`${place.url}/pages`, 'has no manifest.json'],
    [`${place.url}/nothing/there/`, 'has no manifest.json'],
    ['http://downloads.example.com/', 'could be changed on its way'],
    ['https://', 'is not an address'],
    [home.dir, 'has no manifest.json'],
    [home.path('nowhere'), 'there is no folder'],
  ] as const) {
    const { code, error } = await run(from);
    expect([from, code, error]).toEqual([from, 1, expect.stringContaining(message)]);
    expect(readdirSync(target)).toHaveLength(13);
  }
});
