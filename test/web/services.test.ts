import { expect, test } from 'bun:test';
import type { Comparison } from '#modules/releases';
import type { ProjectSummary } from '#modules/live';
import type { ReplicaView, Service } from '#modules/services';
import { differencesOf } from '../../web/services/comparison.ts';
import { SERVICE_ACTIONS } from '../../web/services/service-actions.ts';
import { changesOf, conflictsOf, typedOver, valuesOf, withEdit } from '../../web/services/setting-values.ts';
import { upSince } from '../../web/services/state.ts';
import { jumpsFrom } from '../../web/shell/places.ts';

const changed = (what: string, from: unknown, to: unknown): Comparison['changes'][number] => ({ what, from, to });

test('what differs between releases is said in words of people, and what only repeats is left out', () => {
  const changes = [
    changed('commit', '0123456789abcdef', null),
    changed('size_bytes', 1024, 2 * 1024 * 1024),
    changed('build.start', ['node', 'a.js'], []),
    changed('build.versions', [{ tool: 'node', version: '22' }], [{ tool: 'node', version: '24' }]),
    changed('build.package_manager', { name: 'npm', version: null }, { name: 'pnpm', version: '9' }),
    changed('build.decisions', ['a'], ['b']),
    changed('build.something_new', { a: 1 }, '<b>'),
  ];
  expect(differencesOf({ changes })).toEqual([
    { label: 'Commit', from: '01234567', to: null },
    { label: 'Size', from: '1.0 KB', to: '2.0 MB' },
    { label: 'Start command', from: 'node a.js', to: null },
    { label: 'Versions', from: 'node 22', to: 'node 24' },
    { label: 'Package manager', from: 'npm', to: 'pnpm 9' },
    { label: 'Something new', from: '{"a":1}', to: '<b>' },
  ]);
});

const service = (more: Partial<Service> = {}): Service => ({
  project: 'shop',
  name: 'web',
  status: 'running',
  service_url: 'http://web--shop.localhost',
  replicas: 1,
  health_path: null,
  health_timeout_seconds: 60,
  drain_seconds: 10,
  memory_mb: 512,
  cpus: 1,
  protocol: 'http',
  running_replicas: 1,
  live_release: 'rel_b',
  previous_release: null,
  build_cache_bytes: 0,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  ...more,
});

test('a form of settings keeps what was typed when the service changes, and says where somebody else was faster', () => {
  const before = valuesOf(service());
  const edits = withEdit(withEdit({}, 'memory_mb', '300', before), 'health_path', '/up', before);
  expect(changesOf(before, typedOver(before, edits))).toEqual({ memory_mb: 300, health_path: '/up' });
  expect(conflictsOf(before, edits)).toEqual([]);

  const theirs = valuesOf(service({ memory_mb: 256, cpus: 2 }));
  expect(typedOver(theirs, edits)).toMatchObject({ memory_mb: '300', health_path: '/up', cpus: '2' });
  expect(conflictsOf(theirs, edits)).toEqual(['memory_mb']);
  // Typed on after theirs came: it is still a conflict with what stood there at first.
  expect(conflictsOf(theirs, withEdit(edits, 'memory_mb', '301', theirs))).toEqual(['memory_mb']);

  const same = valuesOf(service({ memory_mb: 300, health_path: '/up' }));
  expect(conflictsOf(same, edits)).toEqual([]);
  expect(changesOf(same, typedOver(same, edits))).toEqual({});
});

test('an emptied health path is none', () => {
  const before = valuesOf(service({ health_path: '/up' }));
  expect(changesOf(before, { ...before, health_path: '' })).toEqual({ health_path: null });
});

const replica = (started: string | null, more: Partial<ReplicaView> = {}): ReplicaView => ({
  name: 'r',
  release: 'rel_b',
  slot: 1,
  state: 'live',
  running: true,
  restarts: 0,
  exit_code: null,
  oom_killed: false,
  started_at: started,
  memory_bytes: null,
  memory_limit_bytes: null,
  cpu: null,
  ...more,
});

test('a service is up since its oldest replica that runs', () => {
  const replicas = [
    replica('2026-01-03T00:00:00Z'),
    replica('2026-01-02T00:00:00Z'),
    replica('2026-01-01T00:00:00Z', { state: 'draining' }),
    replica('2025-01-01T00:00:00Z', { running: false }),
    replica(null),
  ];
  expect(upSince({ replica_states: replicas })).toBe('2026-01-02T00:00:00Z');
  expect(upSince({ replica_states: [] })).toBeUndefined();
});

test('only what means something for a service is offered', () => {
  const offered = (of: ProjectSummary['services'][number] | Service): string[] =>
    SERVICE_ACTIONS.filter(({ fits }) => fits(of)).map(({ name }) => name);
  expect(offered(service({ live_release: null }))).toEqual(['deploy']);
  expect(offered(service({ replicas: 0 }))).toEqual(['deploy', 'scale']);
  expect(offered(service({ previous_release: 'rel_a' }))).toEqual(['deploy', 'restart', 'scale', 'rollback']);
});

test('keys lead to the places of the project one is in, as far as the token may', () => {
  const reader = jumpsFrom('shop', (capability) => capability === 'read');
  expect(reader['g d']).toBe('/p/shop/datastores');
  expect(reader['g a']).toBeUndefined();
  expect(jumpsFrom(undefined, () => true)).toEqual({
    'g h': '/',
    'g o': '/operations',
    'g t': '/tokens',
    'g a': '/admin',
  });
});
