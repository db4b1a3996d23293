import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import type { Operation } from '#modules/operations';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import { EXAMPLES_DIR, packExample, type Edit } from '#test/support/examples.ts';
import { replicaIds } from '#test/support/replicas.ts';

interface Example {
  name: string;
  /** What its first page says. */
  says: string;
  /** A change of one line, and what the page says after it. */
  edit: Edit;
  /** How the build steps that bring in toolchains and dependencies begin; these must not run again after the edit. */
  install: string[];
}

/** The ones that build longest come first: they are all deployed at once. */
const EXAMPLES: Example[] = [
  {
    name: 'rust-axum',
    says: '{"hello":"from axum"}',
    edit: { file: 'src/main.rs', from: 'from axum', to: 'from axum again' },
    install: [],
  },
  {
    name: 'go-http',
    says: '"hello":"from Go"',
    edit: { file: 'main.go', from: 'from Go', to: 'from Go again' },
    install: [],
  },
  {
    name: 'node-vite-pnpm',
    says: '<title>node-vite-pnpm</title>',
    edit: { file: 'index.html', from: '<title>node-vite-pnpm', to: '<title>node-vite-pnpm again' },
    install: ['npm install', 'pnpm install'],
  },
  {
    name: 'bun-hono',
    says: '"hello":"from Hono"',
    edit: { file: 'src/index.ts', from: 'from Hono', to: 'from Hono again' },
    install: ['npm install', 'bun install'],
  },
  {
    name: 'python-fastapi',
    says: '"hello":"from FastAPI"',
    edit: { file: 'main.py', from: 'from FastAPI', to: 'from FastAPI again' },
    install: ['pip install'],
  },
  {
    name: 'node-express',
    says: '"hello":"from Express"',
    edit: { file: 'server.js', from: 'from Express', to: 'from Express again' },
    install: ['npm ci'],
  },
  {
    name: 'static-site',
    says: '<h1>It works</h1>',
    edit: { file: 'index.html', from: 'It works', to: 'It works again' },
    install: ['useradd'],
  },
  {
    name: 'dockerfile-node',
    says: '{"hello":"from a Dockerfile"}',
    edit: { file: 'server.js', from: 'hello: `from', to: 'hello: `again from' },
    install: [],
  },
];

/** Crates and Go packages are compiled into a cache that outlives the step: this is what compiling all of them again says. */
const COMPILES_DEPENDENCIES = /Compiling (axum|tokio|serde)\b|go: downloading/;
const KILLED = 137;

let berth: Berth;
/** Operations of the first deploys, which all begin at once. */
const firstDeploys = new Map<string, string>();

beforeAll(async () => {
  berth = await Berth.boot(['--build-concurrency', '2']);
  await berth.project('shop');
  for (const { name } of EXAMPLES) firstDeploys.set(name, await upload(name));
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const upload = async (name: string, edit?: Edit): Promise<string> => {
  const reply = await berth.uploadArchive('shop', name, await packExample(name, edit));
  expect(reply.status).toBe(202);
  return reply.body.operation_id;
};

interface BuildStep {
  command: string;
  cached: boolean;
}

/** The RUN steps of a build, as its log shows them. */
const runSteps = async (operation: Operation): Promise<{ steps: BuildStep[]; log: string }> => {
  const { body } = await berth.api(operation.stream_url);
  const lines = [...String(body).matchAll(/^data: (\{.*"source":"build".*\})$/gm)].map(
    (match): string => JSON.parse(match[1] ?? '').line,
  );
  const steps = lines.flatMap((line, n) => {
    const command = /^\[[^\]]+\] RUN (?:--\S+ )*(.*)$/.exec(line)?.[1];
    return command === undefined ? [] : [{ command, cached: lines[n + 1] === 'CACHED' }];
  });
  return { steps, log: lines.join('\n') };
};

test('every directory of examples/ is deployed here', () => {
  expect(EXAMPLES.map(({ name }) => name).sort()).toEqual(readdirSync(EXAMPLES_DIR).sort());
});

describe.each(EXAMPLES)('examples/$name', ({ name, says, edit, install }) => {
  test('is deployed without configuration, and answers', async () => {
    expect(await berth.wait(firstDeploys.get(name) ?? '', 600)).toMatchObject({
      status: 'succeeded',
      phase: 'healthy',
      error: null,
    });
    const response = await berth.app('shop', name);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(says);
  }, 600_000);

  test('does not run as root', async () => {
    const [id = ''] = await replicaIds(berth, 'shop', name);
    const [root = ''] = (await docker(['inspect', '--format', '{{.State.Pid}}', id])).trim().split('\n');
    const pids = [root, ...readFileSync(`/proc/${root}/task/${root}/children`, 'utf8').trim().split(' ')];
    expect(pids.length).toBeGreaterThan(1);
    for (const pid of pids) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    }
  });

  test('ends on SIGTERM by itself when it is restarted', async () => {
    const [id = ''] = await replicaIds(berth, 'shop', name);
    const exit = docker(['wait', id]);
    const reply = await berth.api(`/v1/projects/shop/services/${name}/restart`, { method: 'POST' });
    expect(await berth.wait(reply.body.operation_id, 60)).toMatchObject({ status: 'succeeded' });
    const live = performance.now();
    expect(Number(await exit)).not.toBe(KILLED);
    expect(performance.now() - live).toBeLessThan(8000);
    expect(await berth.appText('shop', name)).toContain(says);
  }, 90_000);

  test('is built anew after a change of one line without installing its dependencies again', async () => {
    const second = await berth.wait(await upload(name, edit));
    expect(second).toMatchObject({ status: 'succeeded', error: null });
    expect(await berth.appText('shop', name)).toContain(
      name === 'dockerfile-node' ? 'again from a Dockerfile' : edit.to,
    );
    const { steps, log } = await runSteps(second);
    for (const command of install) {
      const found = steps.filter((step) => step.command.includes(command));
      expect(found).not.toEqual([]);
      expect(found.filter((step) => !step.cached)).toEqual([]);
    }
    expect(log).not.toMatch(COMPILES_DEPENDENCIES);
  }, 180_000);
});
