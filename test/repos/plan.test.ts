import { describe, expect, test } from 'bun:test';
import { planPush, previewName, type PushPlanInput } from '#repos/plan';

const ZERO = '0'.repeat(40);
const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

const plan = (more: Partial<Omit<PushPlanInput, 'repo'>> & { repo?: Partial<PushPlanInput['repo']> } = {}) =>
  planPush({
    updates: [{ ref: 'refs/heads/main', before: A, after: B, refused: null }],
    options: [],
    previews: new Map(),
    ...more,
    repo: {
      name: 'web',
      default_branch: 'main',
      deploy_service: 'web',
      deploy_branch: null,
      preview: false,
      ...more.repo,
    },
  });
const branch = (name: string, after = B) => [{ ref: `refs/heads/${name}`, before: A, after, refused: null }];

describe('a push', () => {
  test('to the default branch deploys the linked service', () => {
    expect(plan()).toEqual([{ kind: 'deploy', service: 'web', branch: 'main', commit: B, preview: false }]);
  });

  test('deploys nothing without a linked service, for tags, and when git refused the update', () => {
    expect(plan({ repo: { deploy_service: null } })).toEqual([]);
    expect(plan({ updates: [{ ref: 'refs/tags/v1', before: ZERO, after: A, refused: null }] })).toEqual([]);
    expect(plan({ updates: [{ ref: 'refs/heads/main', before: A, after: B, refused: 'non-fast-forward' }] })).toEqual(
      [],
    );
  });

  test('to the deploy branch deploys, to the default branch then not', () => {
    const repo = { deploy_branch: 'release/1' };
    expect(plan({ repo, updates: branch('release/1') })).toMatchObject([{ kind: 'deploy', service: 'web' }]);
    expect(plan({ repo })).toMatchObject([{ kind: 'say', line: expect.stringContaining('release/1') }]);
  });

  test('with -o skip-deploy says that nothing is deployed', () => {
    expect(plan({ options: ['skip-deploy'] })).toMatchObject([{ kind: 'say' }]);
  });

  test('that deletes the deploy branch leaves the service', () => {
    expect(plan({ updates: branch('main', ZERO) })).toEqual([]);
  });

  test('of several branches does each its own', () => {
    const updates = [...branch('main'), ...branch('feature/Login!')];
    expect(plan({ updates, repo: { preview: true } })).toEqual([
      { kind: 'deploy', service: 'web', branch: 'main', commit: B, preview: false },
      { kind: 'deploy', service: 'web-feature-login', branch: 'feature/Login!', commit: B, preview: true },
    ]);
  });
});

describe('a preview', () => {
  test('keeps its service, and goes with its branch', () => {
    const previews = new Map([['topic', 'web-topic-2']]);
    expect(plan({ updates: branch('topic'), repo: { preview: true }, previews })).toMatchObject([
      { service: 'web-topic-2' },
    ]);
    expect(plan({ updates: branch('topic', ZERO), previews })).toEqual([
      { kind: 'remove', service: 'web-topic-2', branch: 'topic' },
    ]);
  });

  test.each([
    ['web', 'topic', [], 'web-topic'],
    ['web', 'Fix/Ünïcode  spaces', [], 'web-fix-n-code-spaces'],
    ['web', 'a--b', [], 'web-a-b'],
    ['web', 'topic', ['web-topic'], 'web-topic-2'],
    ['web', 'x'.repeat(60), [], `web-${'x'.repeat(26)}`],
    ['web', 'x'.repeat(60), [`web-${'x'.repeat(26)}`], `web-${'x'.repeat(24)}-2`],
    ['web', '日本', [], undefined],
    ['web', `${'x'.repeat(25)}-y`, [], `web-${'x'.repeat(25)}`],
  ])('of %s and branch %s is a name of a service', (service, name, taken, wanted) => {
    expect(previewName(service, name, new Set(taken))).toBe(wanted);
  });
});
