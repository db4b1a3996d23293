import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { docker } from './docker.ts';
import { CLIENT_ENVIRONMENT, tryGit, type Ran } from './git-client.ts';
import { cliClientOf } from './git-cli-client.ts';
import type { GitClient } from './git-scenarios.ts';

const ROOT = join(import.meta.dir, '../..');
const PROGRAMS = join(ROOT, 'test/fixtures/git-clients');
/** What clients are made of, kept from one run of the tests to the next. */
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'berth-tests/git-clients');
const DULWICH = '1.2.21';

/** A container on the network of the host that sees the same files under the same names. */
interface Box {
  run(argv: readonly string[], more?: { dir?: string; env?: Record<string, string> }): Promise<Ran>;
  remove(): Promise<void>;
}

const asUser = ['--user', `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`];
const mount = (path: string, mode = 'rw'): string[] => ['--volume', `${path}:${path}:${mode}`];

const openBox = async (image: string): Promise<Box> => {
  mkdirSync(CACHE, { recursive: true });
  const name = `berth-git-client-${randomBytes(4).toString('hex')}`;
  const folders = [...mount(tmpdir()), ...mount(CACHE), ...mount(ROOT, 'ro')];
  const lasting = ['sleep', 'infinity'];
  await docker([
    'run',
    '--detach',
    '--init',
    '--network=host',
    '--name',
    name,
    ...asUser,
    ...folders,
    image,
    ...lasting,
  ]);
  return {
    run: async (argv, { dir = '/', env = {} } = {}) => {
      const variables = Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
      return ran(['docker', 'exec', '--workdir', dir, ...variables, name, ...argv]);
    },
    remove: async () => void (await docker(['rm', '--force', '--volumes', name])),
  };
};

const ran = async (argv: string[]): Promise<Ran> => {
  const child = Bun.spawn(argv, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, text: out + err };
};

/** A client that is a program with the verbs of test/fixtures/git-clients. */
const programClient = (name: string, can: GitClient['can'], run: (argv: string[]) => Promise<Ran>): GitClient => {
  const must = async (argv: string[]): Promise<void> => {
    const { code, text } = await run(argv);
    if (code !== 0) throw new Error(`${name} ${argv.join(' ')} ended with ${code}: ${text}`);
  };
  const WHOLE = 0x7fffffff;
  return {
    name,
    can,
    clone: async (url, dir, { depth = 0 } = {}) => {
      mkdirSync(dirname(dir), { recursive: true });
      await must(['clone', url, dir, String(depth)]);
    },
    fetch: (dir, url, { unshallow = false } = {}) => must(['fetch', url, dir, String(unshallow ? WHOLE : 0)]),
    push: async (dir, url, refspecs, { force = false, atomic = false } = {}) => {
      const flags = [String(force), ...(can.has('atomic') ? [String(atomic)] : [])];
      const { code, text } = await run(['push', url, dir, ...flags, ...refspecs]);
      return { ok: code === 0, text };
    },
  };
};

/** Made once by `make`, which gets a path beside it: half made ones are never seen. */
const cached = async (name: string, make: (part: string) => Promise<void>): Promise<string> => {
  const path = join(CACHE, name);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const part = `${path}.${randomBytes(4).toString('hex')}.part`;
  await make(part);
  renameSync(part, path);
  return path;
};

const goGit = async (): Promise<GitClient> => {
  const source = join(PROGRAMS, 'go-git');
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(source, file)));
  const program = await cached(`go-git-${hash.digest('hex').slice(0, 16)}`, async (part) => {
    const env = ['CGO_ENABLED=0', 'GOCACHE=/tmp/build', 'GOMODCACHE=/tmp/mod', 'GOFLAGS=-buildvcs=false'];
    const variables = env.flatMap((variable) => ['--env', variable]);
    const box = ['run', '--rm', '--network=host', ...asUser, ...variables, ...mount(CACHE), ...mount(source, 'ro')];
    await docker([...box, '--workdir', source, 'golang:1.26', 'go', 'build', '-o', part, '.']);
  });
  return programClient('go-git', new Set(['shallow', 'force', 'atomic', 'v0']), (argv) => ran([program, ...argv]));
};

const dulwich = (box: Box): GitClient =>
  programClient('dulwich', new Set(['shallow', 'unshallow', 'control-characters', 'force']), async (argv) => {
    const library = await cached(`dulwich-${DULWICH}`, async (part) => {
      const { code, text } = await box.run(['pip', 'install', '--quiet', '--target', part, `dulwich==${DULWICH}`]);
      if (code !== 0) throw new Error(`dulwich cannot be installed: ${text}`);
    });
    const env = { PYTHONPATH: library, PYTHONDONTWRITEBYTECODE: '1', HOME: tmpdir() };
    return box.run(['python3', join(PROGRAMS, 'dulwich_client.py'), ...argv], { env });
  });

const isomorphic = (box: Box): GitClient =>
  programClient('isomorphic-git', new Set(['shallow', 'unshallow', 'control-characters', 'force']), (argv) =>
    box.run(['node', join(PROGRAMS, 'isomorphic.ts'), ...argv]),
  );

const versionOf = (text: string): string => /\d+\.\d+\.\d+/.exec(text)?.[0] ?? text.trim();

/**
 * The clients that berth is held to: git as the machine has it, git as Debian 13 has it, go-git, dulwich and
 * isomorphic-git. `remove` takes their containers away.
 */
export const openGitClients = async (): Promise<{ clients: GitClient[]; remove: () => Promise<void> }> => {
  const [node, python] = await Promise.all([openBox('node:24'), openBox('python:3.13')]);
  const inBox = cliClientOf('git', (dir, args, { env = {} } = {}) =>
    node.run(['git', '-C', dir, ...args], { env: { ...CLIENT_ENVIRONMENT, ...env } }),
  );
  const own = versionOf((await tryGit('/', ['--version'])).text);
  const other = versionOf((await node.run(['git', '--version'])).text);
  const git = cliClientOf(`git ${own}`, tryGit);
  const clients = [git, { ...inBox, name: `git ${other}` }, await goGit(), dulwich(python), isomorphic(node)];
  return { clients, remove: async () => void (await Promise.all([node.remove(), python.remove()])) };
};
