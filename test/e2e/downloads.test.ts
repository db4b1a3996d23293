import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '#cli/version';
import { sha256OfFile } from '#kernel/executable-file';
import { ownPlatform } from '#kernel/platform';
import { helloApp, writeFiles } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';

const PLATFORM = ownPlatform() ?? 'linux-amd64';

let berth: Berth;
let folder: string;
/** A copy of what the server runs: dist/berth may have been built anew since. */
let executable: string;
let image: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'downloads-e2e-'));
  berth = await Berth.boot();
  executable = join(folder, 'executable');
  copyFileSync(`/proc/${berth.pid}/exe`, executable);
  chmodSync(executable, 0o755);
  image = `berth-test-downloads-${process.pid}`;
  await makeImage();
}, 240_000);
afterAll(async () => {
  await berth.destroy();
  await docker(['image', 'rm', '--force', image]);
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** A bare Debian with curl and wget in folders of their own, so that a test can have either alone. */
const makeImage = async (): Promise<void> => {
  const context = join(folder, 'image');
  mkdirSync(context);
  writeFileSync(
    join(context, 'Dockerfile'),
    [
      'FROM debian:trixie-slim',
      'RUN apt-get update && apt-get install -y --no-install-recommends curl wget && rm -rf /var/lib/apt/lists/*',
      'RUN mkdir /curl /wget && mv /usr/bin/curl /curl/ && mv /usr/bin/wget /wget/ && useradd --create-home ann',
      'USER ann',
      '',
    ].join('\n'),
  );
  await docker(['build', '--quiet', '--network', 'host', '--tag', image, context]);
};

const inContainer = async (command: string, path: string): Promise<string> =>
  docker([
    'run',
    '--rm',
    '--network',
    'host',
    '--cap-drop',
    'ALL',
    '--env',
    `PATH=${path}:/usr/bin:/bin`,
    image,
    'sh',
    '-c',
    command,
  ]);

describe('/install.sh in a bare Debian, as nobody special', () => {
  test.each([
    ['curl', 'curl -fsSL'],
    ['wget', 'wget -qO-'],
  ])(
    'with %s alone it installs a client that works with this server',
    async (tool, get) => {
      const said = await inContainer(
        `${get} ${berth.url}/install.sh | sh && $HOME/.local/bin/berth whoami --endpoint ${berth.url} --token ${berth.token} --json && ` +
          `${get} ${berth.url}/install.sh | sh && ls -A $HOME/.local/bin`,
        `/${tool}`,
      );
      expect(said).toContain(`berth ${VERSION} is installed: /home/ann/.local/bin/berth\n`);
      expect(said).toContain(`  berth login ${berth.url}\n`);
      expect(said).toContain(`"endpoint":"${berth.url}"`);
      expect(said).toContain(`berth ${VERSION} is already the newest: /home/ann/.local/bin/berth\n`);
      expect(said).toEndWith('\nberth\n');
    },
    60_000,
  );
});

test('the action for CI installs the client, deploys with a token for that alone, and says where it is live', async () => {
  await berth.project('shop');
  const { body: token } = await berth.api('/v1/tokens', {
    method: 'POST',
    body: { principal: 'ci', capabilities: ['read', 'deploy'], projects: ['shop'] },
  });
  const source = join(folder, 'source');
  writeFiles(source, helloApp('from ci'));
  const output = join(folder, 'github-output');
  const act = async (project: string) => {
    const child = Bun.spawn(['sh', join(import.meta.dir, '../../.github/actions/deploy/deploy.sh')], {
      stdout: 'pipe',
      stderr: 'pipe',
      cwd: source,
      env: {
        PATH: '/usr/bin:/bin',
        HOME: folder,
        RUNNER_TEMP: folder,
        GITHUB_OUTPUT: output,
        SERVICE_ENDPOINT: `${berth.url}/`,
        SERVICE_TOKEN: token.secret,
        DEPLOY_PROJECT: project,
        DEPLOY_COMMIT: 'abcdef0123',
      },
    });
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { out, error, code: await child.exited };
  };
  const { out, error, code } = await act('shop');
  expect([code, code === 0 ? '' : error]).toEqual([0, '']);
  const url = `http://web--shop.localhost:${berth.ports.http}`;
  expect(out).toBe(`live at ${url}\n`);
  expect(readFileSync(output, 'utf8')).toBe(`url=${url}\n`);
  expect(await berth.appText('shop', 'web')).toBe('from ci');
  expect(await act('other')).toMatchObject({ code: 1, out: '' });
}, 60_000);

describe('/dl of the executable', () => {
  test('is the one that runs, byte for byte, and goes on where it broke off', async () => {
    const reply = await fetch(`${berth.url}/dl/berth-${PLATFORM}`);
    const whole = await reply.bytes();
    expect(new Bun.CryptoHasher('sha256').update(whole).digest('hex')).toBe(await sha256OfFile(executable));
    const rest = await fetch(`${berth.url}/dl/berth-${PLATFORM}`, {
      headers: { range: `bytes=${whole.length - 1000}-` },
    });
    expect([rest.status, Buffer.compare(await rest.bytes(), whole.subarray(-1000))]).toEqual([206, 0]);
  }, 30_000);

  test('by many at once leaves the API quick, and costs no memory', async () => {
    const memory = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${berth.pid}/status`, 'utf8'))?.[1]) / 1024;
    const before = memory();
    const readers = await Promise.all(
      Array.from({ length: 30 }, async () => (await fetch(`${berth.url}/dl/berth-${PLATFORM}`)).body?.getReader()),
    );
    const begun = performance.now();
    expect((await berth.api('/v1/projects')).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(memory() - before).toBeLessThan(50);
    for (const reader of readers) await reader?.cancel();
  }, 30_000);

  test('of a platform that is not there is told how to come by', async () => {
    const { status, body } = await berth.api('/dl/berth-darwin-arm64', { token: null });
    if (status === 200) return;
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    expect(body.hint).toContain('bun run build');
  });
});

/** A client of another build: the same program with something behind it, which it does not mind. */
const otherBuild = (name: string): string => {
  const file = join(folder, name);
  copyFileSync(executable, file);
  writeFileSync(file, 'another build', { flag: 'a' });
  chmodSync(file, 0o751);
  return file;
};

const run = async (file: string, args: readonly string[]) => {
  const child = Bun.spawn([file, 'upgrade', '--endpoint', berth.url, ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
  });
  const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { out, error, code: await child.exited };
};

describe('berth upgrade', () => {
  test('of what the server has too has nothing to do', async () => {
    const file = join(folder, 'same');
    copyFileSync(executable, file);
    const { out, code } = await run(file, ['--json', '--force']);
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ standing: 'same', upgraded: false })]);
  }, 30_000);

  test('says what it would do, without doing it', async () => {
    const file = otherBuild('checked');
    const before = await sha256OfFile(file);
    expect(JSON.parse((await run(file, ['--check', '--json'])).out)).toMatchObject({
      standing: 'other',
      offered: VERSION,
    });
    const planned = JSON.parse((await run(file, ['--dry-run', '--force', '--json'])).out);
    expect(planned).toMatchObject({ dry_run: true, plan: { changes: [{ action: 'replace', name: file }] } });
    expect(JSON.parse((await run(file, ['--json'])).out)).toMatchObject({ upgraded: false });
    expect(await sha256OfFile(file)).toBe(before);
  }, 30_000);

  test('puts the server’s in the place of this one, behind links, with its mode', async () => {
    const file = otherBuild('real');
    const link = join(folder, 'link');
    symlinkSync(file, link);
    const { code, out, error } = await run(link, ['--force', '--no-json']);
    expect([code, out, error]).toEqual([
      0,
      `berth ${VERSION} is installed: ${file}\n`,
      expect.stringContaining('downloading'),
    ]);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(await sha256OfFile(file)).toBe(await sha256OfFile(executable));
    expect(statSync(file).mode & 0o7777).toBe(0o751);
  }, 30_000);

  test('from source has nothing to replace, and says so', async () => {
    const main = join(import.meta.dir, '../../src/main.ts');
    const child = Bun.spawn([process.execPath, main, 'upgrade', '--force', '--endpoint', berth.url, '--no-json'], {
      stdout: 'pipe',
      stderr: 'pipe',
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    });
    expect(await new Response(child.stderr).text()).toContain('error: this client runs from its source');
    expect(await child.exited).toBe(1);
  }, 30_000);
});
