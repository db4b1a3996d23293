import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helloApp } from '#test/support/apps.ts';
import { Berth, pack } from '#test/support/berth.ts';
import { until } from '#test/support/until.ts';

const PACKAGE = join(import.meta.dir, '../../clients/typescript');

let berth: Berth;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'berth-client-'));
  const tsc = Bun.spawn(
    [process.execPath, 'x', '--no-install', 'tsc', '-p', PACKAGE, '--outDir', join(folder, 'client')],
    {
      cwd: PACKAGE,
      stdout: 'pipe',
    },
  );
  expect([await new Response(tsc.stdout).text(), await tsc.exited]).toEqual(['', 0]);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'deploy.js'), DEPLOY);
  berth = await Berth.boot();
}, 120_000);

afterAll(async () => {
  await berth.destroy();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** As somebody would write it: project, deploy of an archive, a line of JSON for each event, and one for the end. */
const DEPLOY = `
import { readFile } from 'node:fs/promises';
import { createClient } from './client/index.js';
const [project, archive] = process.argv.slice(2);
const say = (value) => console.log(JSON.stringify(value));
const berth = createClient({ endpoint: process.env.SERVICE_ENDPOINT, token: process.env.SERVICE_TOKEN });
const made = await berth.post('/v1/projects', { body: { name: project } });
if (!made.ok) throw new Error(made.error.message);
const end = await berth.deploy({
  project, service: 'web', archive: await readFile(archive), onEvent: ({ id, event, data }) => say({ id, event, data }),
});
const tree = await berth.get('/v1/projects/{project}', { path: { project } });
say({ end, services: tree.ok ? tree.data.services.map(({ name, status }) => ({ name, status })) : tree });
`;

interface Said {
  id?: string;
  event?: string;
  data?: Record<string, unknown>;
  end?: unknown;
  services?: unknown;
}

/** What the program says, as it comes; Node's own version, not Bun's. */
const deploy = async (project: string, files: Record<string, string>) => {
  const archive = join(folder, `${project}.tar.gz`);
  writeFileSync(archive, await pack(files));
  const child = Bun.spawn(['node', 'deploy.js', project, archive], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', SERVICE_ENDPOINT: berth.url, SERVICE_TOKEN: berth.token },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const said: Said[] = [];
  const reading = (async () => {
    let rest = '';
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      said.push(...lines.map((line) => JSON.parse(line) as Said));
    }
  })();
  const ended = async (): Promise<{ code: number; error: string }> => {
    const [error, code] = await Promise.all([new Response(child.stderr).text(), child.exited, reading]);
    return { code, error };
  };
  return { said, ended };
};

const lines = (said: readonly Said[]): string[] =>
  said.flatMap(({ event, data }) => (event === 'log' && typeof data?.['line'] === 'string' ? [data['line']] : []));

test('in Node it deploys, follows over a restart of the server without an event twice, and gives the end', async () => {
  // Unlike that of any run before, whose steps the engine has cached.
  const steps = `: ${crypto.randomUUID()}; for n in 1 2 3 4 5 6 7 8; do echo step-$n-is-done; sleep 1; done`;
  const app = { ...helloApp('by the library') };
  const from = app['Dockerfile'] ?? 'FROM node:24-slim\nWORKDIR /app\nCOPY . .\nCMD ["node", "server.js"]\n';
  const { said, ended } = await deploy('library', { ...app, Dockerfile: from.replace('\n', `\nRUN ${steps}\n`) });
  await until(() => lines(said).some((line) => line.includes('step-2-is-done')), 60);
  await berth.stop();
  const seen = said.length;
  await Bun.sleep(6000);
  expect(said.length).toBe(seen);
  await berth.start();
  expect(await ended()).toEqual({ code: 0, error: '' });
  expect(said.at(-1)).toMatchObject({
    end: { ok: true, data: { status: 'succeeded', result: expect.objectContaining({ release: expect.anything() }) } },
    services: [{ name: 'web', status: 'running' }],
  });
  const ids = said.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
  expect(ids).toEqual([...new Set(ids)].toSorted((one, two) => one - two));
  expect(lines(said.slice(seen)).some((line) => line.includes('step-8-is-done'))).toBe(true);
  expect(await berth.appText('library', 'web')).toBe('by the library');
}, 180_000);

test('a deploy that fails is a value with the reason and the end of its log', async () => {
  const { said, ended } = await deploy('failing', { Dockerfile: 'FROM node:24-slim\nRUN echo the reason; exit 3\n' });
  expect(await ended()).toEqual({ code: 0, error: '' });
  expect(said.at(-1)?.end).toMatchObject({
    ok: false,
    error: { code: 'BUILD_COMMAND_FAILED', hint: expect.any(String), log_tail: expect.stringContaining('the reason') },
  });
  expect(existsSync(join(folder, 'client/index.d.ts'))).toBe(true);
}, 60_000);
