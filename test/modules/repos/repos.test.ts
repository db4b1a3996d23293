import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { addProject, addToken, call, createRig, type Rig } from '../support/rig.ts';

const setUp = (config: NonNullable<Parameters<typeof createRig>[0]>['config'] = {}): Rig => {
  const rig = createRig({ config });
  addProject(rig, 'shop');
  return rig;
};
const ALL = '/v1/projects/shop/repos';
const create = (rig: Rig, body: Record<string, unknown>) => call(rig, `POST ${ALL}`, { body });
const folder = (rig: Rig, name: string): string =>
  join(rig.dataDir, 'repos', `${rig.repoStore.get('shop', name)?.id ?? 'none'}.git`);

describe('createRepo', () => {
  test('makes a repository with an address to clone, and is idempotent', async () => {
    const rig = setUp();
    const first = await create(rig, { name: 'web', deploy_service: 'web' });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      name: 'web',
      created: true,
      clone_url: 'http://berth.test/git/shop/web.git',
      default_branch: 'main',
      deploy_service: 'web',
      deploy_branch: null,
      preview: false,
      empty: true,
      mirror_of: null,
      webhook_secret: null,
    });
    expect(existsSync(join(folder(rig, 'web'), 'HEAD'))).toBe(true);
    const again = await create(rig, { name: 'web', deploy_service: 'other' });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ created: false, deploy_service: 'web' });
  });

  test.each([
    [{ name: '../x' }, 'name'],
    [{ name: 'a b' }, 'name'],
    [{ name: 'web', default_branch: 'a..b' }, 'branch'],
    [{ name: 'web', default_branch: '--upload-pack=x' }, 'branch'],
    [{ name: 'web', root: '../etc' }, 'root'],
    [{ name: 'web', root: '/etc' }, 'root'],
    [{ name: 'web', mirror_of: 'ext::sh -c id' }, 'mirror_of'],
    [{ name: 'web', webhook_secret: '12345678' }, 'webhook_secret'],
    [{ name: 'web', colour: 'red' }, 'colour'],
    [{}, 'name'],
  ])('refuses %j', async (body, field) => {
    const rig = setUp();
    const { status, body: error } = await create(rig, body);
    expect(status).toBe(400);
    expect(error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining(field) });
    expect(rig.repoStore.all()).toEqual([]);
  });

  test('keeps to the quota', async () => {
    const rig = setUp({ quotaRepos: 1 });
    await create(rig, { name: 'web' });
    expect((await create(rig, { name: 'docs' })).body).toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  test('of a mirror gives the webhook and its secret once, and never the credential', async () => {
    const rig = setUp();
    const body = {
      name: 'web',
      mirror_of: 'https://git.example.com/a/b',
      mirror_credential: { user: 'me', password: 'very secret indeed' },
    };
    const made = await create(rig, body);
    expect(made.body.webhook_secret).toMatch(/^[0-9a-f]{48}$/);
    expect(made.body.webhook_url).toContain('/hooks/repo_');
    expect(rig.mirrored).toEqual([rig.repoStore.get('shop', 'web')?.id ?? '']);
    const shown = JSON.stringify((await call(rig, `GET ${ALL}/web`)).body);
    expect(shown).not.toContain('very secret indeed');
    expect(shown).not.toContain(made.body.webhook_secret);
    expect(new TextDecoder().decode(rig.db.serialize())).not.toContain('very secret indeed');
    expect(rig.repoStore.get('shop', 'web')?.mirror_credential).toEqual(body.mirror_credential);
  });

  test('with dry_run makes nothing', async () => {
    const rig = setUp();
    const { body } = await call(rig, `POST ${ALL}?dry_run=true`, { body: { name: 'web' } });
    expect(body.plan.changes).toMatchObject([{ action: 'create', resource: 'repo', name: 'web' }]);
    expect(rig.repoStore.all()).toEqual([]);
  });
});

describe('updateRepo', () => {
  test('renames, links, and changes the default branch', async () => {
    const rig = setUp();
    await create(rig, { name: 'web' });
    const before = folder(rig, 'web');
    const body = { name: 'site', deploy_service: 'web', deploy_branch: 'release/1', root: 'apps/web', preview: true };
    const { body: changed } = await call(rig, `PATCH ${ALL}/web`, { body: { ...body, default_branch: 'trunk' } });
    expect(changed).toMatchObject({
      ...body,
      default_branch: 'trunk',
      clone_url: 'http://berth.test/git/shop/site.git',
    });
    expect(folder(rig, 'site')).toBe(before);
    expect((await call(rig, `GET ${ALL}/web`)).status).toBe(404);
  });

  test('to a mirror makes a secret for its webhooks, and shows it once', async () => {
    const rig = setUp();
    await create(rig, { name: 'web' });
    const body = { mirror_of: 'https://git.example.com/a/b' };
    const made = await call(rig, `PATCH ${ALL}/web`, { body });
    expect(made.body.webhook_secret).toMatch(/^[0-9a-f]{48}$/);
    expect(rig.repoStore.get('shop', 'web')?.webhook_secret).toBe(made.body.webhook_secret);
    const again = await call(rig, `PATCH ${ALL}/web`, { body });
    expect(again.body.webhook_secret).toBeNull();
  });

  test('refuses a name that is taken', async () => {
    const rig = setUp();
    await create(rig, { name: 'web' });
    await create(rig, { name: 'docs' });
    expect((await call(rig, `PATCH ${ALL}/web`, { body: { name: 'docs' } })).body.code).toBe('CONFLICT');
  });
});

describe('deleteRepo', () => {
  test('takes the folder too, and a new one of the name is empty', async () => {
    const rig = setUp();
    await create(rig, { name: 'web' });
    const gone = folder(rig, 'web');
    expect((await call(rig, `DELETE ${ALL}/web`)).body).toEqual({ deleted: true });
    expect(existsSync(gone)).toBe(false);
    expect((await create(rig, { name: 'web' })).body.created).toBe(true);
    expect(folder(rig, 'web')).not.toBe(gone);
  });
});

describe('tokens', () => {
  test('need manage_repos, and see nothing of other projects', async () => {
    const rig = setUp();
    await create(rig, { name: 'web' });
    const reader = addToken(rig, 'reader', ['read', 'deploy'], ['shop']);
    expect((await call(rig, `GET ${ALL}/web`, { token: reader })).body.code).toBe('CAPABILITY_MISSING');
    const stranger = addToken(rig, 'stranger', ['manage_repos'], ['other']);
    expect((await call(rig, `GET ${ALL}/web`, { token: stranger })).status).toBe(404);
  });
});
