import { describe, expect, test } from 'bun:test';
import { systemCtx } from '#kernel/ctx';
import { createPushes } from '#repos/push';
import { addProject, call, createRig } from '#test/modules/support/rig.ts';

const ZERO = '0'.repeat(40);

/** An empty repository, and what reacts to pushes into it. */
const world = async () => {
  const rig = createRig();
  addProject(rig, 'shop');
  expect((await call(rig, 'POST /v1/projects/shop/repos', { body: { name: 'web' } })).status).toBe(201);
  const pushes = createPushes({
    ...rig,
    clock: { now: Date.now, monotonic: () => performance.now(), sleep: () => Promise.resolve() },
    store: rig.repoStore,
    deployCommit: () => Promise.reject(new Error('nothing is deployed here')),
  });
  const row = () => {
    const found = rig.repoStore.get('shop', 'web');
    if (found === undefined) throw new Error('the repository is gone');
    return found;
  };
  const commit = async (branch: string): Promise<string> => {
    const made = await rig.git.writeCommit(row().id, {
      branch,
      message: 'Begin',
      author: { name: 'ci', email: 'ci@berth.local' },
      at: 0,
      actions: [{ action: 'write', path: branch, content: Buffer.from('x'), executable: false }],
    });
    return made?.id ?? '';
  };
  const pushed = (given: ReturnType<typeof row>, branch: string, after: string) =>
    pushes.react(systemCtx('req_1'), given, {
      updates: [{ ref: `refs/heads/${branch}`, before: ZERO, after, refused: null }],
      options: [],
    });
  return { row, commit, pushed };
};

describe('the default branch of a repository that was empty', () => {
  test('is the branch that came first', async () => {
    const { row, commit, pushed } = await world();
    await pushed(row(), 'trunk', await commit('trunk'));
    expect(row().default_branch).toBe('trunk');
  });

  test('stays when the next push began before that one was noted', async () => {
    const { row, commit, pushed } = await world();
    const before = row();
    const main = await commit('main');
    const odd = await commit('odd');
    await pushed(before, 'odd', odd);
    expect(row().default_branch).toBe('main');
    await pushed(before, 'main', main);
    expect(row().default_branch).toBe('main');
  });

  test('stays when it was another, which was noted meanwhile', async () => {
    const { row, commit, pushed } = await world();
    const before = row();
    await pushed(before, 'trunk', await commit('trunk'));
    await pushed(before, 'odd', await commit('odd'));
    expect(row().default_branch).toBe('trunk');
  });
});
