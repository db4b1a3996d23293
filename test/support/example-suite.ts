import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Operation } from '#modules/operations';
import { Berth } from './berth.ts';
import { docker } from './docker.ts';
import { type Edit, type Example, packExample } from './examples.ts';
import { replicaIds } from './replicas.ts';

const KILLED = 137;

interface BuildStep {
  command: string;
  cached: boolean;
}

/** Deploys every example without configuration, and checks what holds for each app that berth builds. */
export const testExamples = (examples: Example[]): void => {
  let berth: Berth;
  /** Operations of the first deploys, which all begin at once. */
  const firstDeploys = new Map<string, string>();

  beforeAll(async () => {
    berth = await Berth.boot(['--build-concurrency', '2']);
    await berth.project('shop');
    for (const kind of new Set(examples.flatMap(({ needs = [] }) => needs))) await addDatastore(kind);
    for (const { name } of examples) firstDeploys.set(name, await upload(name));
  }, 120_000);

  afterAll(async () => {
    await berth.destroy();
  }, 60_000);

  const upload = async (name: string, edit?: Edit): Promise<string> => {
    const reply = await berth.uploadArchive('shop', name, await packExample(name, edit));
    expect(reply.status).toBe(202);
    return reply.body.operation_id;
  };

  const addDatastore = async (kind: string): Promise<void> => {
    const reply = await berth.api('/v1/projects/shop/datastores', { method: 'POST', body: { kind } });
    expect(await berth.wait(reply.body.operation_id)).toMatchObject({ status: 'succeeded', error: null });
  };

  /** The page of an example, as text. */
  const page = async ({ name, path = '/' }: Example): Promise<string> => {
    const response = await berth.app('shop', name, path);
    expect(response.status).toBe(200);
    return response.text();
  };

  /** The RUN steps of a build, as its log shows them. */
  const runSteps = async (operation: Operation): Promise<{ steps: BuildStep[]; log: string }> => {
    const { body } = await berth.api(operation.stream_url);
    const lines = [...String(body).matchAll(/^data: (\{.*"source":"build".*\})$/gm)].map(
      (match): string => JSON.parse(match[1] ?? '').line,
    );
    const ends = new Set(lines);
    const steps = lines.flatMap((line) => {
      const [, label, command] = /^(\[[^\]]+\]) RUN (?:--\S+ )*(.*)$/.exec(line) ?? [];
      return command === undefined ? [] : [{ command, cached: ends.has(`${label} CACHED`) }];
    });
    return { steps, log: lines.join('\n') };
  };

  describe.each(examples)('examples/$name', (example) => {
    const { name, says, edit, install, compiles } = example;

    test('is deployed without configuration, and answers', async () => {
      expect(await berth.wait(firstDeploys.get(name) ?? '', 900)).toMatchObject({
        status: 'succeeded',
        phase: 'healthy',
        error: null,
      });
      expect(await page(example)).toContain(says);
    }, 900_000);

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
      expect(await page(example)).toContain(says);
    }, 90_000);

    if (edit === undefined) return;
    test('is built anew after a change of one line without installing its dependencies again', async () => {
      const second = await berth.wait(await upload(name, edit), 600);
      expect(second).toMatchObject({ status: 'succeeded', error: null });
      expect(await page(example)).toContain(edit.says ?? edit.to);
      const { steps, log } = await runSteps(second);
      for (const command of install) {
        const found = steps.filter((step) => step.command.includes(command));
        expect(found).not.toEqual([]);
        expect(found.filter((step) => !step.cached)).toEqual([]);
      }
      if (compiles !== undefined) expect(log).not.toMatch(compiles);
    }, 600_000);
  });
};
