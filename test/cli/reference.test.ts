import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { loadChapters } from '#cli/commands/index';
import { CONFIG_FLAGS, givenConfigFlags, SECRET } from '#cli/config-flags';
import { reference } from '#cli/reference';
import { DEFAULT_CONFIG, flagName, loadConfig, type Config } from '#kernel/config';

test('docs/cli.md is what the commands say (update: bun src/main.ts help --markdown > docs/cli.md)', async () => {
  const written = await Bun.file(join(import.meta.dir, '../../docs/cli.md')).text();
  expect(written).toBe(reference(await loadChapters()));
});

test('every setting of the server has a flag, but for secrets', () => {
  const secret: readonly (keyof Config)[] = SECRET;
  const names = (Object.keys(DEFAULT_CONFIG) as (keyof Config)[]).filter((key) => !secret.includes(key)).map(flagName);
  expect(Object.keys(CONFIG_FLAGS).sort()).toEqual(names.sort());
});

test('flags reach the configuration as they were given', () => {
  const given = givenConfigFlags({
    'http-port': 8080,
    firewall: false,
    'base-domain': 'apps.example.com',
    'https-port': undefined,
    json: true,
  });
  expect(given).toEqual({ 'http-port': '8080', firewall: 'false', 'base-domain': 'apps.example.com' });
  expect(loadConfig({ flags: { ...given, 'data-dir': '/nowhere' }, env: {} })).toMatchObject({
    httpPort: 8080,
    firewall: false,
    baseDomain: 'apps.example.com',
    httpsPort: 443,
  });
});
