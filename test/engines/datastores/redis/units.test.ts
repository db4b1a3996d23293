import { describe, expect, test } from 'bun:test';
import { aclFile, aclUsers } from '#engines/datastores/redis/acl';
import { configFile, maxMemory } from '#engines/datastores/redis/config';
import { usersToEnd } from '#engines/datastores/redis/settle';
import { connectionOf, filesOf, unitsOf } from '#engines/datastores/redis/units';
import { anInstance } from './support.ts';

describe('the container', () => {
  test('follows from the instance alone', () => {
    const instance = anInstance();
    expect(unitsOf(instance)).toEqual([
      {
        role: 'main',
        container: {
          name: 'berth-shop-cache-main-cdefghijkl',
          image: 'valkey/valkey:8',
          command: ['valkey-server', '/data/berth/valkey.conf'],
          env: {},
          labels: { 'berth.test': 'redis' },
          network: { name: 'berth-shop', ip: '10.200.0.9', aliases: ['cache.db.internal'] },
          loopbackPorts: [],
          mounts: [],
          volumes: [{ name: 'berth-ds_01abcdefghijkl-main', target: '/data', labels: { 'berth.test': 'redis' } }],
          memoryBytes: 128 * 1024 ** 2,
          cpus: 1,
          pidsLimit: 64,
          capAdd: [],
          user: '999:999',
          readOnlyRoot: true,
          tmpfs: [],
          restart: 'unless-stopped',
          init: false,
          stopGraceSeconds: 30,
        },
      },
    ]);
  });

  test('is never given a password, only what it can check one by', () => {
    const instance = anInstance();
    const built = JSON.stringify([unitsOf(instance), filesOf(instance)]);
    for (const secret of ['admin-word', 'reader-word', 'writer-word', 'first-word'])
      expect(built).not.toContain(secret);
    expect(filesOf(instance).map(({ path, uid, mode }) => [path, uid, mode])).toEqual([
      ['/data/berth/valkey.conf', 999, 0o600],
      ['/data/berth/users.acl', 999, 0o600],
    ]);
  });

  test.each([64, 256, 4096, 65_536])('of %i MiB keeps room for a fork and for its clients', (memoryMb) => {
    const settings = new Map(
      configFile(anInstance({ memoryMb }))
        .trimEnd()
        .split('\n')
        .map((line): [string, string] => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
    );
    const limit = memoryMb * 1024 ** 2;
    expect(Number(settings.get('maxmemory'))).toBe(maxMemory(memoryMb));
    expect(Number(settings.get('maxmemory')) + Number(settings.get('maxmemory-clients'))).toBeLessThan(limit * 0.91);
    expect(Number(settings.get('maxclients'))).toBeLessThanOrEqual(10_000);
    expect(settings.get('maxmemory-policy')).toBe('noeviction');
    expect(settings.get('appendonly')).toBe('yes');
    expect(settings.get('client-output-buffer-limit')).toStartWith(`normal ${settings.get('maxmemory-clients')} 0 0 `);
  });
});

describe('the users', () => {
  test("are berth's three, one for each credential, and the default one with all their passwords", () => {
    const first = { user: 'app_first', password: 'one' };
    const second = { user: 'app_second', password: 'two' };
    const users = aclUsers(anInstance({ credentials: [first, second] }));
    expect(users.map(({ name, hashes }) => [name, hashes.length])).toEqual([
      ['berth_admin', 1],
      ['berth_reader', 1],
      ['berth_writer', 1],
      ['default', 2],
      ['app_first', 1],
      ['app_second', 1],
    ]);
    expect(aclFile(anInstance({ credentials: [first] }))).toMatch(
      /^user default on #[0-9a-f]{64} ~\* &\* \+@all -@admin -@dangerous /m,
    );
  });

  test('end their sessions when a password of theirs is dropped, and only then', () => {
    const users = [
      { name: 'default', hashes: ['new'], rules: '' },
      { name: 'app_new', hashes: ['new'], rules: '' },
      { name: 'app_same', hashes: ['same'], rules: '' },
    ];
    const present = new Map([
      ['default', ['old', 'new']],
      ['app_old', ['old']],
      ['app_same', ['same']],
    ]);
    expect(usersToEnd(users, present)).toEqual(['default']);
    expect(usersToEnd(users, new Map([['default', ['new']]]))).toEqual([]);
  });
});

test('the URL holds any password', () => {
  const credential = { user: 'app_first', password: 'p@ss:w/ö?#rd%' };
  const { url, parts } = connectionOf(anInstance(), credential);
  expect(url).toBe('redis://app_first:p%40ss%3Aw%2F%C3%B6%3F%23rd%25@cache.db.internal:6379/0');
  expect(decodeURIComponent(new URL(url).password)).toBe(credential.password);
  expect(parts).toEqual({});
});
