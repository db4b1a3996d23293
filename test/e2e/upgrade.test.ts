import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NEWEST_SCHEMA } from '#kernel/database';
import { sha256OfFile } from '#kernel/executable-file';
import { lockedBy } from '#kernel/lock';
import { Berth } from '#test/support/berth.ts';
import { buildVariant, copyExecutable, type Behaviour } from '#test/support/executables.ts';
import { atEnd } from '#test/support/preload.ts';
import { helloApp } from '#test/support/apps.ts';
import { makeRelease } from './install/lab.ts';
import manifest from '../../package.json' with { type: 'json' };

const OLD = manifest.version;
const NEXT = '90.1.0';
const AFTER = '90.2.0';

const folder = mkdtempSync(join(tmpdir(), 'berth-upgrade-'));
const bin = join(folder, 'bin/berth');
const next = join(folder, 'next/berth');
const after = join(folder, 'after/berth');

let berth: Berth;

beforeAll(async () => {
  copyExecutable(bin);
  await buildVariant(next, NEXT);
  await buildVariant(after, AFTER);
  // Room for the networks of a project per test.
  berth = await Berth.boot(['--network-size', '27'], { executable: bin });
  await berth.project('shop');
  const done = await berth.deploy('shop', 'web', helloApp('first'));
  expect(done.status).toBe('succeeded');
}, 240_000);

afterAll(async () => {
  const pid = serverPid();
  if (pid !== undefined && pid !== berth.pid) process.kill(pid, 'SIGKILL');
  await berth.destroy();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

afterEach(() => rmSync(join(folder, 'bin/behaviour'), { force: true }));

const serverPid = (): number | undefined => lockedBy(join(berth.dataDir, 'server.lock'));

/** The executable that is installed next behaves so, wherever it is started. */
const behave = (behaviour: Behaviour): void => writeFileSync(join(folder, 'bin/behaviour'), behaviour);

const startUpgrade = (file: string, ...flags: string[]) =>
  Bun.spawn(
    [
      [next, after].includes(file) ? file : bin,
      'server',
      'upgrade',
      file,
      '--data-dir',
      berth.dataDir,
      '--json',
      ...flags,
    ],
    {
      stdout: 'pipe',
      stderr: 'pipe',
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, TMPDIR: folder },
    },
  );

/** Warnings come before it, as text. */
const failureIn = (said: string) => {
  const line = said.split('\n').find((each) => each.startsWith('{'));
  return line === undefined ? undefined : JSON.parse(line);
};

const upgrade = async (file: string, ...flags: string[]) => {
  const child = startUpgrade(file, ...flags);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return {
    code,
    out: stdout === '' ? undefined : JSON.parse(stdout),
    error: failureIn(stderr),
    said: stderr,
  };
};

const health = async (): Promise<Record<string, unknown> | undefined> =>
  fetch(`${berth.url}/v1/health`).then(
    (reply) => reply.json() as Promise<Record<string, unknown>>,
    () => undefined,
  );

const until = async <T>(look: () => T | undefined | Promise<T | undefined>, what: string, seconds = 60): Promise<T> => {
  const deadline = performance.now() + seconds * 1000;
  while (performance.now() < deadline) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await Bun.sleep(5);
  }
  throw new Error(`not in ${seconds} s: ${what}; the server's log:\n${berth.serverLog.slice(-4000)}`);
};

/** Requests to the app through the proxy, one after the other, for as long as the test lasts. */
const traffic = () => {
  const over = new AbortController();
  let requests = 0;
  const failures: string[] = [];
  const work = (async () => {
    while (!over.signal.aborted) {
      requests += 1;
      const reply = await berth
        .app('shop', 'web', '/', { headers: { connection: 'close' } })
        .then(async (response) => `${response.status} ${await response.text()}`, String);
      if (!reply.startsWith('200 ')) failures.push(reply);
      await Bun.sleep(5);
    }
  })();
  atEnd(() => over.abort());
  return async () => {
    over.abort();
    await work;
    expect(requests).toBeGreaterThan(20);
    expect(failures).toEqual([]);
  };
};

const files = (): string[] =>
  readdirSync(berth.dataDir)
    .filter((name) => /upgrade/.test(name))
    .sort();

const schema = (): { version: number | undefined; later: boolean } => {
  const db = new Database(join(berth.dataDir, 'berth.db'), { readonly: true });
  try {
    return {
      version: db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version,
      later: db.query("SELECT 1 FROM sqlite_schema WHERE name = 'later'").get() !== null,
    };
  } finally {
    db.close();
  }
};

let projects = 0;
/** It takes changes: what an upgrade has to give back in any case. */
const takesChanges = async (): Promise<void> => {
  projects += 1;
  const name = `project-${projects}`;
  expect((await berth.api('/v1/projects', { method: 'POST', body: { name } })).status).toBe(201);
  for (let known = 1; known <= projects; known += 1)
    expect((await berth.api(`/v1/projects/project-${known}`)).status).toBe(200);
};

const runsOld = async (): Promise<void> => {
  await until(async () => ((await health())?.['status'] === 'ok' ? true : undefined), 'the old one is well');
  expect(await health()).toMatchObject({ status: 'ok', version: OLD, schema: NEWEST_SCHEMA });
  expect(schema()).toEqual({ version: NEWEST_SCHEMA, later: false });
  expect(Bun.spawnSync([bin, '--version']).stdout.toString().trim()).toBe(OLD);
  await takesChanges();
};

test('what is no executable of berth, or does not fit, is refused, and nothing has changed', async () => {
  const { pid } = berth;
  const text = join(folder, 'text');
  writeFileSync(text, 'not an executable');
  chmodSync(text, 0o755);
  expect((await upgrade(text)).error.message).toMatch(/does not (?:run|fit)/);
  writeFileSync(text, '#!/bin/sh\necho hello\n');
  expect((await upgrade(text)).code).toBe(1);
  expect((await upgrade(join(folder, 'missing'))).error.message).toContain('there is no file');
  behave('bad-migration');
  const { code, error } = await upgrade(next);
  expect({ code, message: error.message, hint: error.hint }).toEqual({
    code: 1,
    message: expect.stringContaining('no such table: nowhere'),
    hint: expect.stringContaining('nothing was changed'),
  });
  expect({ pid: serverPid(), files: files(), bin: readdirSync(join(folder, 'bin')).sort() }).toEqual({
    pid,
    files: [],
    bin: ['behaviour', 'berth'],
  });
  await runsOld();
}, 60_000);

test('the executable that runs already is no upgrade, and --check exchanges nothing', async () => {
  expect(await upgrade(bin)).toMatchObject({ code: 0, out: { changed: false, from: OLD, to: OLD } });
  expect(await upgrade(next, '--check')).toMatchObject({ code: 0, out: { changed: false, from: OLD, to: NEXT } });
  await runsOld();
}, 60_000);

const releases = (sha256: string) => {
  const executable = {
    name: 'berth-linux-amd64',
    platform: 'linux-amd64',
    bytes: statSync(next).size,
    sha256,
    packed: [],
  };
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      url.endsWith('/dl/manifest.json')
        ? Response.json({
            version: NEXT,
            executables: [executable, { ...executable, name: 'berth-linux-arm64', platform: 'linux-arm64' }],
          })
        : new Response(Bun.file(next)),
  });
  atEnd(() => server.stop(true));
  return `http://127.0.0.1:${server.port}`;
};

test('a version is taken from where releases are, and only with the checksum that is announced', async () => {
  const good = releases(await sha256OfFile(next));
  expect(await upgrade(good, '--check')).toMatchObject({ code: 0, out: { changed: false, to: NEXT } });
  expect(await upgrade(NEXT, '--from', good, '--check')).toMatchObject({ code: 0, out: { changed: false, to: NEXT } });
  expect((await upgrade('90.7.0', '--from', good)).error.message).toContain(`has berth ${NEXT}, not 90.7.0`);
  expect((await upgrade(NEXT)).error.hint).toContain('--from URL');
  expect((await upgrade(releases('0'.repeat(64)))).error.message).toContain('checksum');
  expect((await upgrade('http://127.0.0.1:1')).code).toBe(1);
  await runsOld();
}, 60_000);

test('a data directory without a running server is named as such', async () => {
  const child = Bun.spawn([bin, 'server', 'upgrade', next, '--data-dir', folder, '--json'], {
    stderr: 'pipe',
    stdout: 'ignore',
  });
  expect(JSON.parse(await new Response(child.stderr).text()).message).toContain('no server runs on');
}, 30_000);

test.each([
  ['crashes at its start', 'crash', /its process ended/],
  ['hangs at its start', 'hang', /did not start within/],
  ['fails in the real migration only', 'late-migration', /its process ended/],
  ['is well at first, then not', 'fade', /health is degraded|well for too short a time/],
] as const)(
  'a version that %s is taken back with its migrations, and apps never notice',
  async (_, behaviour, reason) => {
    behave(behaviour);
    const unharmed = traffic();
    const { code, error } = await upgrade(next, '--timeout-seconds', '6', '--settle-seconds', '3');
    expect({ code, message: error?.message }).toEqual({ code: 1, message: expect.stringMatching(reason) });
    expect(error.hint).toContain(`${OLD} runs again`);
    await runsOld();
    expect(files()).toEqual(['upgrade.reverted.json']);
    await unharmed();
  },
  90_000,
);

const seen = (name: string) => (): true | undefined => (existsSync(join(berth.dataDir, name)) ? true : undefined);
const trial = (): { attempts: number } | undefined => {
  try {
    return JSON.parse(readFileSync(join(berth.dataDir, 'upgrade.trial.json'), 'utf8')) as { attempts: number };
  } catch {
    // Not there, or moved in this moment.
    return undefined;
  }
};
const attempted = (): true | undefined => ((trial()?.attempts ?? 0) > 0 ? true : undefined);

const killAt = async (file: string, moment: () => true | undefined, flags: string[] = []): Promise<void> => {
  const upgrader = startUpgrade(file, '--timeout-seconds', '8', '--settle-seconds', '2', ...flags);
  await until(moment, 'the moment to kill the upgrader');
  upgrader.kill('SIGKILL');
  await upgrader.exited;
};

test.each([
  ['copies the executable', () => (existsSync(`${bin}.new`) ? (true as const) : undefined)],
  ['tries it on a copy', () => seen('.upgrade-check')()],
  ['has written its journal', () => seen('upgrade.trial.json')()],
  [
    'has exchanged the executable',
    () => (trial() !== undefined && existsSync(`${bin}.previous`) ? (true as const) : undefined),
  ],
  ['waits for the new server', attempted],
])(
  'an upgrader that is killed when it %s leaves a server that is well',
  async (_, moment) => {
    behave('fade');
    rmSync(`${bin}.previous`, { force: true });
    const unharmed = traffic();
    await killAt(next, moment);
    // Either it never came to a restart, or the server finds by itself that the new version fades, and goes back.
    await until(
      () => (trial() === undefined || (trial()?.attempts === 0 && runsOldFile()) ? true : undefined),
      'the end of the trial',
    );
    await until(async () => ((await health())?.['version'] === OLD ? true : undefined), 'the old version');
    await takesChanges();
    behave('crash');
    expect((await upgrade(next, '--timeout-seconds', '6')).code).toBe(1);
    await runsOld();
    await unharmed();
  },
  120_000,
);

const runsOldFile = (): boolean => {
  const pid = serverPid();
  return (
    pid !== undefined &&
    Bun.spawnSync([`/proc/${pid}/exe`, '--version'])
      .stdout.toString()
      .trim() === OLD
  );
};

test('when upgrader and server are killed, a supervisor that starts the server again gets the former one in the end', async () => {
  behave('crash');
  await killAt(next, () => (trial() !== undefined && existsSync(`${bin}.previous`) ? (true as const) : undefined));
  const pid = serverPid();
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
  behave('fade');
  for (let starts = 0; starts < 8 && (await health())?.['status'] !== 'ok'; starts += 1) {
    await berth.stop('SIGKILL');
    berth.launch();
    await Bun.sleep(1500);
  }
  await until(() => (trial() === undefined ? true : undefined), 'the end of the trial');
  await runsOld();
}, 120_000);

test('an upgrade migrates, takes no changes until it is confirmed, resumes deploys, and apps never notice', async () => {
  const unharmed = traffic();
  const { pid } = berth;
  const deploying = await berth.upload('shop', 'second', helloApp('second'));
  expect(deploying.status).toBe(202);
  const release = join(folder, 'release');
  await makeRelease(next, NEXT, release);
  const place = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      const file = Bun.file(release + new URL(url).pathname);
      return file.exists().then((there) => (there ? new Response(file) : new Response('', { status: 404 })));
    },
  });
  atEnd(() => place.stop(true));
  const upgrading = upgrade(NEXT, '--from', `http://127.0.0.1:${place.port}`, '--settle-seconds', '2');
  await until(attempted, 'the new server');
  const refused = await until(async () => {
    const reply = await berth
      .api('/v1/projects', { method: 'POST', body: { name: 'too-early' } })
      .catch(() => undefined);
    return reply?.status === 503 ? reply : undefined;
  }, 'a refusal of changes');
  expect(refused.body).toMatchObject({
    code: 'INTERNAL_ERROR',
    retryable: true,
    message: expect.stringContaining('upgraded'),
  });
  expect(refused.headers.get('retry-after')).toBe('2');
  expect((await berth.api('/v1/projects/shop')).status).toBe(200);
  expect(await upgrading).toMatchObject({
    code: 0,
    out: {
      changed: true,
      from: OLD,
      to: NEXT,
      schema: { before: NEWEST_SCHEMA, after: NEWEST_SCHEMA + 1 },
      previous: `${bin}.previous`,
      clients: { version: NEXT, missing: [], changed: true },
    },
  });
  expect(await (await fetch(`${berth.url}/dl/berth-darwin-arm64`)).text()).toBe(`for darwin-arm64, ${NEXT}`);
  expect(await health()).toMatchObject({ status: 'ok', version: NEXT, schema: NEWEST_SCHEMA + 1 });
  await until(
    async () =>
      (await berth.api('/v1/projects', { method: 'POST', body: { name: 'now' } })).status === 201 ? true : undefined,
    'changes',
  );
  expect((await berth.api('/v1/projects/too-early')).status).toBe(404);
  expect((await berth.wait(deploying.body.operation_id)).status).toBe('succeeded');
  expect(await berth.appText('shop', 'second')).toContain('second');
  expect({ pid: serverPid(), files: files() }).toEqual({ pid: serverPid(), files: ['upgrade.confirmed.json'] });
  expect(pid).toBe(berth.pid);
  await takesChanges();
  await unharmed();
}, 180_000);

test('the way back past a migration is refused with the way that there is', async () => {
  const { code, error } = await upgrade(`${bin}.previous`);
  expect({ code, message: error.message, hint: error.hint }).toEqual({
    code: 1,
    message: expect.stringContaining(
      `the state has schema ${NEWEST_SCHEMA + 1}, this executable knows up to ${NEWEST_SCHEMA}`,
    ),
    hint: expect.stringContaining('nothing was changed'),
  });
  expect(await health()).toMatchObject({ status: 'ok', version: NEXT });
}, 60_000);

test('a restart of the machine in the middle of an upgrade that is well ends in the new version', async () => {
  await killAt(after, attempted, ['--settle-seconds', '4']);
  const pid = serverPid();
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
  await berth.stop('SIGKILL');
  berth.launch();
  await until(seen('upgrade.confirmed.json'), 'the confirmation');
  expect(await health()).toMatchObject({ status: 'ok', version: AFTER, schema: NEWEST_SCHEMA + 1 });
  await until(
    async () =>
      (await berth.api('/v1/projects', { method: 'POST', body: { name: 'again' } })).status === 201 ? true : undefined,
    'changes',
  );
  // Those of the version before are there still, and handed out no more; a file alone brings no others.
  const asked = await fetch(`${berth.url}/dl/berth-darwin-arm64`);
  expect([asked.status, await asked.json()]).toEqual([
    404,
    expect.objectContaining({ hint: expect.stringContaining('berth server downloads FROM') }),
  ]);
  const { code, said } = await upgrade(after);
  expect([code, said]).toEqual([0, expect.stringContaining('hands out the client of this platform only')]);
  expect(existsSync(join(folder, 'bin/downloads'))).toBe(false);
}, 90_000);
