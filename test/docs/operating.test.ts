import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { COMMAND_NAMES } from '#cli/commands/index';
import { DEFAULT_CONFIG, tomlName, type Config } from '#kernel/config';
import { createWorld } from '#test/app/world.ts';
import { withSettings } from '../../scripts/settings.ts';

const text = await Bun.file(join(import.meta.dir, '../../docs/operating.md')).text();

test('the settings are those of the code (update: bun scripts/settings.ts)', () => {
  expect(text).toBe(withSettings(text));
});

test('every key that the text names is a setting', () => {
  const keys = new Set<string>((Object.keys(DEFAULT_CONFIG) as (keyof Config)[]).map(tomlName));
  const outside = text.replace(/<!-- settings[^]*?<!-- end of settings -->/, '').replace(/^## Metrics[^]*?^## /m, '');
  const named = [...outside.matchAll(/(?:^|`)([a-z]+(?:_[a-z]+)+)(?:`| = )/gm)].map(([, key = '']) => key);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((key) => !keys.has(key) && !['log_tail', 'rolled_back'].includes(key))).toEqual([]);
});

test('every metric is named, and no other', async () => {
  const { text: metrics } = await createWorld().call('GET /metrics');
  const served = [...metrics.matchAll(/^# HELP (\S+)/gm)].map(([, name = '']) => name);
  const section = /^## Metrics[^]*?```yaml/m.exec(text)?.[0] ?? '';
  const named = [...section.matchAll(/`((?:berth|process)_[a-z_]+)/g)].map(([, name = '']) => name);
  expect(named.sort()).toEqual(served.sort());
});

test('every command is one that berth has', () => {
  const commands = [...text.matchAll(/(?:^|`|\/)berth ([a-z]+(?:-[a-z]+)?)\b/gm)].map(([, name = '']) => name);
  expect(commands.length).toBeGreaterThan(10);
  expect(commands.filter((name) => !COMMAND_NAMES.includes(name))).toEqual([]);
});
